import "./menu.css";
import { lazy, Suspense, useState } from "react";
import { lazyFile } from "../files";
import { useMenu } from "../menus";
import { t } from "../words";

const items = lazyFile(() => import("./MenuItems"));
const MenuItems = lazy(items.load);
const DIALOGS = {
  flag: lazy(lazyFile(() => import("./Flag")).load),
  voters: lazy(lazyFile(() => import("./Voters")).load),
};

/** What a menu is about. */
export interface MenuSubject {
  id: string;
  /** What a screen reader calls it: the title of an article, or "comment by alice". */
  name: string;
  /** The username of its poster; null if the server does not tell it. */
  poster: string | null;
  /** The groups of an article, where they are known. */
  groups?: readonly string[];
  /** Whether moderators have hidden it: then nobody flags it. */
  isHidden?: boolean;
  /** Whether the menu leads to who voted, as on the page of an article. */
  hasVoters?: boolean;
}

/** A button at the end of a line that opens a menu with what else can be done about its article or comment. */
export function LineMenu({ subject }: { subject: MenuSubject }) {
  const { isOpen, toggle, close, button, area } = useMenu();
  const [dialog, setDialog] = useState<keyof typeof DIALOGS | null>(null);
  const Dialog = dialog && DIALOGS[dialog];
  return (
    <span className="line-menu" {...area}>
      <button
        ref={button}
        type="button"
        className="more"
        aria-label={t("more-about", { name: subject.name })}
        aria-expanded={isOpen}
        aria-keyshortcuts="m"
        title={t("more")}
        onPointerEnter={() => void items.load()}
        onFocus={() => void items.load()}
        onClick={toggle}
      >
        <svg viewBox="0 0 16 16" aria-hidden="true">
          <path d="M3 8h.01M8 8h.01M13 8h.01" />
        </svg>
      </button>
      {isOpen && (
        <Suspense>
          <MenuItems subject={subject} close={close} open={setDialog} />
        </Suspense>
      )}
      {Dialog && (
        <Suspense>
          <Dialog subject={subject} close={() => setDialog(null)} />
        </Suspense>
      )}
    </span>
  );
}
