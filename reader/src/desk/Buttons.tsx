import { useState } from "react";
import { explainRefusal } from "../errors";
import { moderates } from "../roles";
import { say, sayProblem } from "../status";
import { ActionDialog } from "./ActionDialog";
import type { Subject, Task } from "./ActionForm";
import { groupsToLeave, mayBan, mayModerate, useModerator, type Moderator, type UserWithRoles } from "./authority";
import { APPROVE, useSend } from "./mutations";
import { t } from "../words";

interface ButtonsProps {
  subject: Subject;
  /** Whom a button bans; by default there is none. */
  poster?: (UserWithRoles & { id: string }) | null | undefined;
  state: string;
  /** False shows the button that locks an article. Comments, which cannot be locked, leave it out. */
  isLocked?: boolean | undefined;
  /** Whether an edit waits. */
  hasEdit?: boolean;
  /** Whether a thing is approved at once, without a form. */
  isQuick?: boolean;
}

/** Buttons for what a moderator may do with an article or a comment, and with its poster. Keys: a, r and l. */
export function Buttons({ subject, poster, state, isLocked = true, hasEdit = false, isQuick = false }: ButtonsProps) {
  const [task, setTask] = useState<Task | null>(null);
  const approve = useApprove(subject);
  const moderator = useModerator();
  const isWhole = mayModerate(moderator, subject); // not only in some of its groups
  const isRemovable = isWhole || groupsToLeave(moderator, subject).length > 0;
  if (!isRemovable) return <p className="hint">{t(whyNot(moderator, subject))}</p>;
  return (
    <div className="action-buttons">
      {isWhole && (
        <ActionButton
          name={t("do-approve")}
          about={subject.name}
          shortcut="a"
          onClick={() => (isQuick ? void approve() : setTask({ act: "approve", subject }))}
        />
      )}
      {isWhole && hasEdit && (
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
      {isWhole && !isLocked && (
        <ActionButton
          name={t("do-lock")}
          about={subject.name}
          shortcut="l"
          onClick={() => setTask({ act: "lock", subject })}
        />
      )}
      {poster && mayBan(moderator, poster) && (
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

/** The id of the text that says why somebody may not act on a text. */
function whyNot({ username, roles }: Moderator, { poster, groups }: Subject): string {
  if (poster?.username === username) return "not-on-your-own";
  return moderates(roles, groups) ? "not-on-their-role" : "not-your-group";
}

interface ActionButtonProps {
  name: string;
  /** What it is about, for screen readers. */
  about: string;
  shortcut?: string;
  onClick: () => void;
}

/** A button for one thing that a moderator may do. */
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
