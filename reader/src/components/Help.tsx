import { useEffect, useRef } from "react";
import { enableShortcuts, useShortcutsEnabled } from "../keyboard";
import { moderatesAnything, useRoles } from "../roles";
import { t } from "../words";

/**
 * Keys, and the ids of the texts that tell what they do. Elements name the keys that press them in `aria-keyshortcuts`.
 */
const KEYS: [string, string][] = [
  ["j", "key-j"],
  ["k", "key-k"],
  ["o", "key-o"],
  ["c", "key-c"],
  ["u", "key-u"],
  ["d", "key-d"],
  ["r", "key-r"],
  ["e", "key-e"],
  ["f", "key-f"],
  ["m", "key-m"],
  ["w", "key-w"],
  ["x", "key-x"],
  ["y", "key-y"],
  ["n", "key-n"],
  ["p", "key-p"],
  ["/", "key-search"],
  ["?", "key-help"],
];

const KEYS_OF_MODERATORS: [string, string][] = [
  ["a", "key-approve"],
  ["r", "key-remove"],
  ["l", "key-lock"],
  ["Enter", "key-enter"],
];

/** The dialog with the keys. */
export default function Help({ close }: { close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const isEnabled = useShortcutsEnabled();
  const keys = moderatesAnything(useRoles()) ? [...KEYS, ...KEYS_OF_MODERATORS] : KEYS;
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} onClose={close} aria-labelledby="help-title" className="help">
      <h2 id="help-title">{t("keyboard")}</h2>
      <dl>
        {keys.map(([key, meaning]) => (
          <div key={meaning}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{t(meaning)}</dd>
          </div>
        ))}
      </dl>
      <label className="check">
        <input type="checkbox" checked={isEnabled} onChange={({ target }) => enableShortcuts(target.checked)} />{" "}
        {t("keys-use")}
      </label>
      <form method="dialog">
        <button className="primary">{t("close")}</button>
      </form>
    </dialog>
  );
}
