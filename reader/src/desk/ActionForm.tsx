import { useState } from "react";
import { Choice, Field, Form } from "../components/Form";
import type { Refusal } from "../errors";
import { useRoles } from "../roles";
import { say } from "../status";
import { useAnnulEach } from "./annulling";
import {
  groupsToBan,
  groupsToLeave,
  mayModerate,
  useModerator,
  type Moderator,
  type UserWithRoles,
  type Text,
} from "./authority";
import { APPROVE, BAN, LOCK, REJECT_EDIT, REMOVE, REVERT, useAnswer, useSend, type Outcome } from "./mutations";
import { t } from "../words";

/** An article or a comment that moderators act on. */
export interface Subject extends Text {
  /** What a screen reader calls it. */
  name: string;
}

export type Account = UserWithRoles & { id: string };

/**
 * What a moderator is about to do. `reject` drops an edit that waits, `annul` makes votes count no longer. `action` is
 * the one to revert, or whose appeal is answered: `said` tells what it did, `isBanWithVotes` whether it is a ban that
 * also annulled votes, and was not reverted.
 */
export type Task =
  | { act: "approve" | "reject" | "remove" | "lock"; subject: Subject }
  | { act: "ban"; user: Account }
  | { act: "annul"; users: readonly Account[] }
  | { act: "revert" | "answer"; action: { id: string; said: string; isBanWithVotes: boolean } };

interface ActionFormProps {
  task: Task;
  /** After it is done. */
  onDone: () => void;
  onCancel: () => void;
}

/** The fields of the mutations' inputs that the form has. */
const FIELDS = ["reason", "note", "group", "until", "text"];

/** A form for the reason of what a moderator does, and a note. Refusals stand beside their fields. */
export function ActionForm({ task, onDone, onCancel }: ActionFormProps) {
  const users = task.act === "annul" ? task.users : [];
  const { annulEach, count: annulledCount } = useAnnulEach(users);
  const perform = usePerform(task, annulEach);
  const roles = useRoles();
  const places = placesOf(task, useModerator());
  const [texts, setTexts] = useState({ reason: "", note: "", text: "" });
  const [outcome, setOutcome] = useState<Pick<Outcome, "refusals" | "fault">>({ refusals: [], fault: null });
  const words = WORDS[task.act];

  const field = (name: keyof typeof texts) => ({
    name,
    value: texts[name],
    onChange: ({ target }: { target: { value: string } }) => setTexts({ ...texts, [name]: target.value }),
  });

  async function send(form: FormData) {
    const outcome = await perform(form);
    setOutcome(outcome);
    if (!outcome.isDone) return;
    say(outcome.hasChanged ? t(words.done) : t("done-same"));
    onDone();
  }

  return (
    <Form
      label={t(words.label)}
      submit={t(words.submit)}
      action={send}
      refusals={outcome.refusals}
      ofField={ofField}
      fault={outcome.fault}
      onCancel={onCancel}
    >
      {places && <Choice name="group" label={t("where")} options={places} />}
      {task.act === "ban" && !places && (
        <Field name="group" label={t("group")} hint={t("ban-group-hint")} autoComplete="off" />
      )}
      {task.act === "ban" && (
        <>
          <Choice name="until" label={t("how-long")} options={LENGTHS.map(translated)} />
          <label className="check">
            <input type="checkbox" name="removeTexts" /> {t("ban-remove-texts")}
          </label>
          {roles.isOfSite && (
            <label className="check">
              <input type="checkbox" name="annulVotes" /> {t("ban-annul-votes")}
            </label>
          )}
        </>
      )}
      {users.length > 1 && <p>{users.map(({ username }) => username).join(", ")}</p>}
      {task.act === "annul" && <Choice name="since" label={t("which-votes")} options={SPANS.map(translated)} />}
      {task.act === "revert" && task.action.isBanWithVotes && (
        <label className="check">
          <input type="checkbox" name="keepVotesAnnulled" /> {t("keep-annulled")}
        </label>
      )}
      {task.act === "answer" ? (
        <Field {...field("text")} label={t("field-answer")} hint={t("answer-hint")} rows={4} most={5_000} />
      ) : (
        <>
          <Field
            {...field("reason")}
            label={task.act === "approve" ? t("reason-if-any") : t("reason")}
            hint={t("reason-in-log")}
            rows={2}
            most={1_000}
          />
          <Field {...field("note")} label={t("note")} hint={t("note-hint")} rows={2} most={5_000} />
        </>
      )}
      {users.length > 1 && (
        <p role="status">{annulledCount > 0 && t("annulled-accounts", { done: annulledCount, total: users.length })}</p>
      )}
    </Form>
  );
}

/** The ids of the texts of the button, of the form for screen readers, and of what is said once it is done. */
const WORDS: Record<Task["act"], { submit: string; label: string; done: string }> = {
  approve: { submit: "do-approve", label: "do-approve", done: "done-approve" },
  reject: { submit: "do-reject", label: "do-reject-edit", done: "done-reject" },
  remove: { submit: "do-remove", label: "do-remove", done: "done-remove" },
  lock: { submit: "do-lock", label: "do-lock", done: "done-lock" },
  annul: { submit: "do-annul", label: "do-annul-votes", done: "done-annul" },
  ban: { submit: "do-ban", label: "do-ban", done: "done-ban" },
  revert: { submit: "do-revert", label: "do-revert", done: "done-revert" },
  answer: { submit: "do-answer", label: "do-answer", done: "done-answer" },
};

const DAY = 86_400; // seconds, as all values below
/** How long a ban lasts; no value is for good. */
const LENGTHS = [
  { value: String(DAY), text: "one-day" },
  { value: String(7 * DAY), text: "one-week" },
  { value: String(30 * DAY), text: "thirty-days" },
  { value: String(365 * DAY), text: "one-year" },
  { value: "", text: "for-good" },
];
/** How far back the annulled votes were cast; no value is for all votes. */
const SPANS = [
  { value: "", text: "votes-all" },
  { value: String(DAY), text: "votes-of-day" },
  { value: String(7 * DAY), text: "votes-of-week" },
  { value: String(30 * DAY), text: "votes-of-thirty-days" },
];

const translated = ({ value, text }: { value: string; text: string }) => ({ value, text: t(text) });

/** A function that does what the form says. */
function usePerform(
  task: Task,
  annulEach: ReturnType<typeof useAnnulEach>["annulEach"],
): (form: FormData) => Promise<Outcome> {
  const send = useSend();
  const answer = useAnswer();
  return (form) => {
    const value = (name: string) => String(form.get(name) ?? "").trim() || null;
    const texts = { reason: value("reason") ?? "", note: value("note") };
    const group = value("group");
    switch (task.act) {
      case "approve":
        return send(APPROVE, { ...texts, reason: value("reason"), subjectId: task.subject.id });
      case "reject":
        return send(REJECT_EDIT, { ...texts, subjectId: task.subject.id });
      case "remove":
        return send(REMOVE, { ...texts, group, subjectId: task.subject.id });
      case "lock":
        return send(LOCK, { ...texts, articleId: task.subject.id });
      case "ban":
        return send(BAN, {
          ...texts,
          group,
          until: instantIn(value("until"), 1),
          removeTexts: form.has("removeTexts"),
          annulVotes: form.has("annulVotes"),
          userId: task.user.id,
        });
      case "annul":
        return annulEach({ ...texts, from: instantIn(value("since"), -1) });
      case "revert":
        return send(REVERT, {
          ...texts,
          keepVotesAnnulled: form.has("keepVotesAnnulled"),
          actionId: task.action.id,
        });
      case "answer":
        return answer(task.action.id, value("text") ?? "");
    }
  };
}

/** The instant so many seconds after now, or with the sign -1 before now, in ISO 8601; null without seconds. */
const instantIn = (seconds: string | null, sign: 1 | -1): string | null =>
  seconds && new Date(Date.now() + sign * Number(seconds) * 1_000).toISOString();

/** The options of where a task is done, the first by default: in a group, or everywhere; null if there is no choice. */
function placesOf(task: Task, moderator: Moderator) {
  if (task.act === "ban") return moderator.roles.isOfSite ? null : groupsToBan(moderator, task.user).map(inGroup);
  if (task.act !== "remove" || !task.subject.id.startsWith("article:")) return null;
  const isWhole = mayModerate(moderator, task.subject);
  const groups = groupsToLeave(moderator, task.subject);
  const places = [...(isWhole ? [{ value: "", text: t("everywhere") }] : []), ...groups.map(outOfGroup)];
  return places.length > 1 || !isWhole ? places : null;
}

const inGroup = (group: string) => ({ value: group, text: t("in-group", { group }) });

const outOfGroup = (group: string) => ({ value: group, text: t("out-of-group", { group }) });

/** Refusals of other fields, such as `subjectId`, are about the whole form. */
function ofField(refusal: Refusal): Refusal {
  return FIELDS.includes(refusal.field?.[1] ?? "") ? refusal : { ...refusal, field: null };
}
