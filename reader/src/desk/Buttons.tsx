import { useState } from "react";
import { explainRefusal } from "../errors";
import { moderates, useRoles } from "../roles";
import { useSession } from "../session";
import { say, sayProblem } from "../status";
import { ActionDialog } from "./ActionDialog";
import type { Subject, Task } from "./ActionForm";
import { APPROVE, useSend } from "./mutations";
import { t } from "../words";

interface ButtonsProps {
  subject: Subject;
  poster?: { id: string; username: string } | null | undefined;
  state: string;
  /** False for an article that can be locked. By default true, as comments cannot be. */
  isLocked?: boolean | undefined;
  /** Whether an edit waits. */
  hasEdit?: boolean;
  /** Whether a thing is approved at once, without a form. */
  isQuick?: boolean;
}

/** What a moderator may do with an article or a comment, and with its poster. Keys: a, r and l. */
export function Buttons({ subject, poster, state, isLocked = true, hasEdit = false, isQuick = false }: ButtonsProps) {
  const [task, setTask] = useState<Task | null>(null);
  const session = useSession();
  const approve = useApprove(subject);
  const roles = useRoles();
  const isOther = poster != null && poster.username !== session?.username;
  if (!moderates(roles, subject.groups)) return <p className="hint">{t("not-your-group")}</p>;
  return (
    <div className="action-buttons">
      <ActionButton
        name={t("do-approve")}
        about={subject.name}
        shortcut="a"
        onClick={() => (isQuick ? void approve() : setTask({ act: "approve", subject }))}
      />
      {hasEdit && (
        <ActionButton
          name={t("do-reject-edit")}
          about={subject.name}
          onClick={() => setTask({ act: "reject", subject })}
        />
      )}
      {state !== "REMOVED" && (
        <ActionButton
          name={t("do-remove")}
          about={subject.name}
          shortcut="r"
          onClick={() => setTask({ act: "remove", subject })}
        />
      )}
      {!isLocked && (
        <ActionButton
          name={t("do-lock")}
          about={subject.name}
          shortcut="l"
          onClick={() => setTask({ act: "lock", subject })}
        />
      )}
      {isOther && (
        <ActionButton
          name={t("do-ban")}
          about={poster.username}
          onClick={() => setTask({ act: "ban", user: poster })}
        />
      )}
      {task && <ActionDialog task={task} onClose={() => setTask(null)} />}
    </div>
  );
}

interface ActionButtonProps {
  name: string;
  /** What it is about, for screen readers. */
  about: string;
  shortcut?: string;
  onClick: () => void;
}

export function ActionButton({ name, about, shortcut, onClick }: ActionButtonProps) {
  return (
    <button
      type="button"
      aria-label={t("named-action", { action: name, name: about })}
      aria-keyshortcuts={shortcut}
      title={shortcut && t("action-key", { name, key: shortcut })}
      onClick={onClick}
    >
      {name}
    </button>
  );
}

/** Approves a thing at once. Why it was refused is in the status line. */
function useApprove({ id, name }: Subject): () => Promise<void> {
  const send = useSend();
  const [isSending, setSending] = useState(false);
  return async () => {
    if (isSending) return;
    setSending(true);
    const { isDone, hasChanged, refusals, fault } = await send(APPROVE, { subjectId: id });
    setSending(false);
    const [refusal] = refusals;
    if (isDone) say(hasChanged ? t("approved-name", { name }) : t("approved-before"));
    else sayProblem(t("not-approved", { reason: fault ?? (refusal ? explainRefusal(refusal) : "") }));
  };
}
