import { type ReactElement, useId, useLayoutEffect, useRef } from "react";
import { ActionForm, type Task } from "./ActionForm";
import { t } from "../words";
import { Words } from "../components/Words";

interface ActionDialogProps {
  task: Task;
  /** After it is done, or given up. */
  onClose: () => void;
}

/** A dialog with the form of what a moderator is about to do. It is open as long as it is shown; Escape cancels. */
export function ActionDialog({ task, onClose }: ActionDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    element?.querySelector("textarea")?.focus();
    return () => element?.close(); // moves the focus back to where it was
  }, []);

  return (
    <dialog
      ref={dialog}
      className="action"
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <h2 id={id}>{questionOf(task)}</h2>
      <ActionForm task={task} onDone={onClose} onCancel={onClose} />
    </dialog>
  );
}

function questionOf(task: Task): ReactElement | string {
  switch (task.act) {
    case "approve":
      return t("ask-approve", { name: task.subject.name });
    case "reject":
      return t("ask-reject", { name: task.subject.name });
    case "remove":
      return t("ask-remove", { name: task.subject.name });
    case "lock":
      return t("ask-lock", { name: task.subject.name });
    case "ban":
      return <Words id="ask-ban" user={<bdi>{task.user.username}</bdi>} />;
    case "annul":
      return task.users.length === 1 ? (
        <Words id="ask-annul" user={<bdi>{task.users[0]?.username}</bdi>} />
      ) : (
        t("ask-annul-each", { count: task.users.length })
      );
    case "revert":
      return t("ask-revert", { said: task.action.said });
    case "answer":
      return t("ask-answer", { said: task.action.said });
  }
}
