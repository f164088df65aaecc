import { useClient } from "urql";
import { useLocation } from "wouter";
import { setHidden } from "../hiding";
import { logInPath } from "../log-in";
import { useSession } from "../session";
import { say } from "../status";
import { t } from "../words";

interface HideItemProps {
  id: string;
  title: string;
  isHidden: boolean;
  /** Closes the menu. */
  close: () => void;
}

/** An item of an article's menu: it hides the article from the viewer's home and feed, or shows it there again. */
export function HideItem({ id, title, isHidden, close }: HideItemProps) {
  const client = useClient();
  const session = useSession();
  const [, navigate] = useLocation();

  function choose() {
    close();
    if (session !== null) return void setHidden(client, id, title, !isHidden);
    navigate(logInPath());
    say(t("log-in-to-hide"));
  }

  return (
    <button type="button" onClick={choose}>
      {t(isHidden ? "unhide-item" : "hide-item")}
    </button>
  );
}
