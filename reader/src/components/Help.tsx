import { useEffect, useRef } from "react";
import { enableShortcuts, useShortcutsEnabled } from "../keyboard";
import { moderatesAnything, useRoles } from "../roles";

const KEYS: [string, string][] = [
  ["j", "next article or comment"],
  ["k", "previous article or comment"],
  ["o", "open its link"],
  ["c", "open its comments"],
  ["u", "vote up, or take the vote back"],
  ["d", "vote down, or take the vote back"],
  ["r", "reply to a comment"],
  ["e", "edit your comment or article"],
  ["f", "follow a group or a user, or stop it"],
  ["m", "open the menu of an article or a comment"],
  ["w", "next comment that is new since your last visit"],
  ["x", "hide or show a comment with its replies"],
  ["y", "why an article stands where it does"],
  ["n", "next page"],
  ["p", "previous page, or the comment that is answered"],
  ["/", "search"],
  ["?", "show these keys"],
];

const KEYS_OF_MODERATORS: [string, string][] = [
  ["a", "approve what waits for moderators, or answer an appeal"],
  ["r", "remove it, or revert an action, with a reason"],
  ["l", "lock an article"],
  ["Enter", "open its page for moderators"],
];

/** The dialog with the keys. */
export default function Help({ close }: { close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const isEnabled = useShortcutsEnabled();
  const keys = moderatesAnything(useRoles()) ? [...KEYS, ...KEYS_OF_MODERATORS] : KEYS;
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} onClose={close} aria-labelledby="help-title" className="help">
      <h2 id="help-title">Keyboard</h2>
      <dl>
        {keys.map(([key, meaning]) => (
          <div key={meaning}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <label className="check">
        <input type="checkbox" checked={isEnabled} onChange={({ target }) => enableShortcuts(target.checked)} /> Use
        these keys
      </label>
      <form method="dialog">
        <button className="primary">Close</button>
      </form>
    </dialog>
  );
}
