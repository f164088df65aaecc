import "./menu.css";
import { useRef } from "react";
import { Link } from "wouter";
import { userPath } from "../addresses";
import { useFirstItem, useMenu } from "../menus";
import { t } from "../words";

interface AccountMenuProps {
  username: string;
  logOut: () => void;
}

/**
 * The name of the viewer: a button that opens a list of links to the viewer's own pages. Where there is no room for the
 * name, the button is an icon; the list begins with the whole name.
 */
export function AccountMenu({ username, logOut }: AccountMenuProps) {
  const { isOpen, toggle, close, button, area } = useMenu();
  return (
    <span className="account-menu" {...area}>
      <button ref={button} type="button" className="plain sign" aria-expanded={isOpen} onClick={toggle}>
        <svg viewBox="0 0 16 16" aria-hidden="true">
          <path d="M8 8.200a3 3 0 1 0 0-6 3 3 0 0 0 0 6zm-5.800 6c.400-3.200 2.600-4.400 5.800-4.400s5.400 1.200 5.800 4.400" />
        </svg>
        <bdi className="name">{username}</bdi>
      </button>
      {isOpen && <Items username={username} logOut={logOut} close={close} />}
    </span>
  );
}

function Items({ username, logOut, close }: AccountMenuProps & { close: () => void }) {
  const list = useRef<HTMLUListElement>(null);
  useFirstItem(list);
  return (
    <ul ref={list} className="menu" aria-label={t("your-account")} onClick={close}>
      <li className="whose">
        <bdi>{username}</bdi>
      </li>
      <li>
        <Link href={userPath(username)}>{t("profile-link")}</Link>
      </li>
      {PAGES.map(({ path, text }) => (
        <li key={path}>
          <Link href={path}>{t(text)}</Link>
        </li>
      ))}
      <li>
        <button type="button" onClick={logOut}>
          {t("log-out")}
        </button>
      </li>
    </ul>
  );
}

const PAGES = [
  { path: "/followed", text: "followed-groups-link" },
  { path: "/saved", text: "saved-link" },
  { path: "/hidden", text: "hidden-link" },
  { path: "/blocked", text: "blocked-link" },
  { path: "/settings", text: "settings-link" },
];
