import "./menu.css";
import { useRef } from "react";
import { Link } from "wouter";
import { userPath } from "../addresses";
import { useFirstItem, useMenu } from "../menus";

interface AccountMenuProps {
  username: string;
  logOut: () => void;
}

/** The name of who is logged in: a button, with what is theirs below it. */
export function AccountMenu({ username, logOut }: AccountMenuProps) {
  const { isOpen, toggle, close, button, area } = useMenu();
  return (
    <span className="account-menu" {...area}>
      <button ref={button} type="button" className="plain" aria-expanded={isOpen} onClick={toggle}>
        <bdi>{username}</bdi>
      </button>
      {isOpen && <Items username={username} logOut={logOut} close={close} />}
    </span>
  );
}

function Items({ username, logOut, close }: AccountMenuProps & { close: () => void }) {
  const list = useRef<HTMLUListElement>(null);
  useFirstItem(list);
  return (
    <ul ref={list} className="menu" aria-label="Your account" onClick={close}>
      <li>
        <Link href={userPath(username)}>Profile</Link>
      </li>
      {PAGES.map(({ path, name }) => (
        <li key={path}>
          <Link href={path}>{name}</Link>
        </li>
      ))}
      <li>
        <button type="button" onClick={logOut}>
          Log out
        </button>
      </li>
    </ul>
  );
}

const PAGES = [
  { path: "/saved", name: "Saved" },
  { path: "/hidden", name: "Hidden" },
  { path: "/blocked", name: "Blocked" },
  { path: "/settings", name: "Settings" },
];
