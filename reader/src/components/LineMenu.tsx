import "./menu.css";
import { lazy, Suspense, useEffect, useRef, useState, type FocusEvent, type KeyboardEvent } from "react";
import { Link, useLocation } from "wouter";
import { logPath } from "../addresses";
import { subjectPath } from "../desk/subjects";
import { file } from "../files";
import { logInPath } from "../log-in";
import { moderates, moderatesAnything, useRoles } from "../roles";
import { useSession } from "../session";
import { say } from "../status";
import { SaveItem } from "./SaveItem";

const Flag = lazy(file(() => import("./Flag")).load);

/** What a menu is about. */
export interface MenuSubject {
  id: string;
  /** What a screen reader calls it: the title of an article, or "comment by alice". */
  name: string;
  /** Who has written it; null if nobody is told. */
  poster: string | null;
  /** The groups of an article, where they are known. */
  groups?: readonly string[];
  /** Whether moderators have hidden it: then nobody flags it. */
  isHidden?: boolean;
}

/** A quiet button at the end of a line, with what else can be done about an article or a comment. */
export function LineMenu({ subject }: { subject: MenuSubject }) {
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  const [isFlagging, setFlagging] = useState(false);

  function close() {
    button.current?.focus(); // what has the focus is gone then, and dialogs give it back to what had it
    setOpen(false);
  }

  function onKeyDown(event: KeyboardEvent) {
    if (event.key === "Escape" && isOpen) close();
  }

  function onBlur({ currentTarget, relatedTarget }: FocusEvent) {
    if (relatedTarget !== null && !currentTarget.contains(relatedTarget)) setOpen(false);
  }

  return (
    <span className="line-menu" onKeyDown={onKeyDown} onBlur={onBlur}>
      <button
        ref={button}
        type="button"
        className="more"
        aria-label={`More: ${subject.name}`}
        aria-expanded={isOpen}
        aria-keyshortcuts="m"
        title="More"
        onClick={() => setOpen(!isOpen)}
      >
        <svg viewBox="0 0 16 16" aria-hidden="true">
          <path d="M3 8h.01M8 8h.01M13 8h.01" />
        </svg>
      </button>
      {isOpen && <Items subject={subject} close={close} flag={() => setFlagging(true)} />}
      {isFlagging && (
        <Suspense>
          <Flag subject={subject} close={() => setFlagging(false)} />
        </Suspense>
      )}
    </span>
  );
}

interface ItemsProps {
  subject: MenuSubject;
  close: () => void;
  flag: () => void;
}

function Items({ subject: { id, name, poster, groups, isHidden }, close, flag }: ItemsProps) {
  const list = useRef<HTMLUListElement>(null);
  const session = useSession();
  const roles = useRoles();
  const [, navigate] = useLocation();
  const mayModerate = groups ? moderates(roles, groups) : moderatesAnything(roles);
  const mayFlag = !isHidden && poster !== null && session?.username !== poster;
  useEffect(() => list.current?.querySelector<HTMLElement>("a, button")?.focus(), []);
  useEffect(() => closeOutside(list.current, close), []);

  function chooseFlag() {
    close();
    if (session !== null) return flag();
    navigate(logInPath());
    say("Log in to flag.");
  }

  return (
    <ul ref={list} className="menu" aria-label={name}>
      {mayFlag && (
        <li>
          <button type="button" onClick={chooseFlag}>
            Flag…
          </button>
        </li>
      )}
      {!isHidden && (
        <li>
          <SaveItem id={id} name={name} close={close} />
        </li>
      )}
      <li>
        <Link href={logPath({ subject: id })}>What moderators did</Link>
      </li>
      {mayModerate && (
        <li>
          <Link href={subjectPath(id)}>Moderate</Link>
        </li>
      )}
    </ul>
  );
}

/** Closes a menu when something beside it is pressed. */
function closeOutside(menu: HTMLElement | null, close: () => void): () => void {
  const onPointer = ({ target }: PointerEvent) => {
    if (!(target instanceof Node) || !menu?.parentElement?.contains(target)) close();
  };
  document.addEventListener("pointerdown", onPointer);
  return () => document.removeEventListener("pointerdown", onPointer);
}
