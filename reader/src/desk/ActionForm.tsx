import { useState } from "react";
import { Choice, Field, Form } from "../components/Form";
import type { Refusal } from "../errors";
import { moderates, useRoles, type Roles } from "../roles";
import { say } from "../status";
import { ANNUL, APPROVE, BAN, LOCK, REJECT_EDIT, REMOVE, REVERT, useAnswer, useSend, type Outcome } from "./mutations";

/** An article or a comment that moderators act on. Only articles are in groups, and have a lock. */
export interface Subject {
  id: string;
  /** What a screen reader calls it. */
  name: string;
  groups: readonly string[];
}

/** What a moderator is about to do. */
export type Task =
  | { act: "approve" | "reject" | "remove" | "lock"; subject: Subject }
  | { act: "ban" | "annul"; user: { id: string; username: string } }
  | { act: "revert" | "answer"; action: { id: string; said: string; isBanWithVotes: boolean } };

interface ActionFormProps {
  task: Task;
  /** After it is done. */
  onDone: () => void;
  onCancel: () => void;
}

const FIELDS = ["reason", "note", "group", "until", "text"];
const EVERYWHERE = { value: "", text: "Everywhere" };

/** A form for the reason of what a moderator does, and a note. Refusals stand beside their fields. */
export function ActionForm({ task, onDone, onCancel }: ActionFormProps) {
  const perform = usePerform(task);
  const roles = useRoles();
  const places = placesOf(task, roles);
  const [texts, setTexts] = useState({ reason: "", note: "", text: "" });
  const [outcome, setOutcome] = useState<Pick<Outcome, "refusals" | "fault">>({ refusals: [], fault: null });
  const words = WORDS[task.act];

  const text = (name: keyof typeof texts) => ({
    name,
    value: texts[name],
    onChange: ({ target }: { target: { value: string } }) => setTexts({ ...texts, [name]: target.value }),
  });

  async function send(form: FormData) {
    const outcome = await perform(form);
    setOutcome(outcome);
    if (!outcome.isDone) return;
    say(outcome.hasChanged ? words.done : "This was so before: nothing has changed.");
    onDone();
  }

  return (
    <Form
      label={words.label}
      submit={words.submit}
      action={send}
      refusals={outcome.refusals.map(ofField)}
      fault={outcome.fault}
      onCancel={onCancel}
    >
      {places && <Choice name="group" label="Where" options={places} />}
      {task.act === "ban" && !places && (
        <Field name="group" label="Group" hint="Without one, the ban is from the whole site." autoComplete="off" />
      )}
      {task.act === "ban" && (
        <>
          <Choice name="until" label="How long" options={LENGTHS} />
          <label className="check">
            <input type="checkbox" name="removeTexts" /> Remove all their articles and comments there, too
          </label>
          {roles.isOfSite && (
            <label className="check">
              <input type="checkbox" name="annulVotes" /> Annul all their votes, if the ban is from the whole site
            </label>
          )}
        </>
      )}
      {task.act === "annul" && <Choice name="since" label="Which votes" options={SPANS} />}
      {task.act === "revert" && task.action.isBanWithVotes && (
        <label className="check">
          <input type="checkbox" name="keepVotesAnnulled" /> Leave their votes annulled
        </label>
      )}
      {task.act === "answer" ? (
        <Field {...text("text")} label="Answer" hint="Whoever has appealed reads it." rows={4} most={5_000} />
      ) : (
        <>
          <Field
            {...text("reason")}
            label={task.act === "approve" ? "Reason, if there is one to give" : "Reason"}
            hint="Everybody reads it in the log."
            rows={2}
            most={1_000}
          />
          <Field {...text("note")} label="Note" hint="Only moderators of the place read it." rows={2} most={5_000} />
        </>
      )}
    </Form>
  );
}

const WORDS: Record<Task["act"], { submit: string; label: string; done: string }> = {
  approve: { submit: "Approve", label: "Approve", done: "Approved." },
  reject: { submit: "Reject", label: "Reject the edit", done: "Rejected: the old text stays." },
  remove: { submit: "Remove", label: "Remove", done: "Removed." },
  lock: { submit: "Lock", label: "Lock", done: "Locked." },
  annul: { submit: "Annul", label: "Annul votes", done: "Their votes do not count any more." },
  ban: { submit: "Ban", label: "Ban", done: "Banned." },
  revert: { submit: "Revert", label: "Revert", done: "Reverted." },
  answer: { submit: "Answer", label: "Answer", done: "Answered." },
};

const DAY = 86_400;
const LENGTHS = [
  { value: String(DAY), text: "1 day" },
  { value: String(7 * DAY), text: "1 week" },
  { value: String(30 * DAY), text: "30 days" },
  { value: String(365 * DAY), text: "1 year" },
  { value: "", text: "For good" },
];
const SPANS = [
  { value: "", text: "All so far" },
  { value: String(DAY), text: "Those of the last day" },
  { value: String(7 * DAY), text: "Those of the last week" },
  { value: String(30 * DAY), text: "Those of the last 30 days" },
];

/** A function that does what the form says. */
function usePerform(task: Task): (form: FormData) => Promise<Outcome> {
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
          until: secondsFromNow(value("until"), 1),
          removeTexts: form.has("removeTexts"),
          annulVotes: form.has("annulVotes"),
          userId: task.user.id,
        });
      case "annul":
        return send(ANNUL, { ...texts, from: secondsFromNow(value("since"), -1), userId: task.user.id });
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

/** The instant so many seconds after now, or before it with the sign -1; null without seconds. */
const secondsFromNow = (seconds: string | null, sign: 1 | -1): string | null =>
  seconds && new Date(Date.now() + sign * Number(seconds) * 1_000).toISOString();

/** Where it may be done, the first by default; null if there is no choice. */
function placesOf(task: Task, roles: Roles) {
  if (task.act === "ban") return roles.isOfSite ? null : roles.groups.map(inGroup);
  if (task.act !== "remove" || !task.subject.id.startsWith("article:")) return null;
  const { groups } = task.subject;
  const own = groups.filter((group) => moderates(roles, [group]));
  const isWhole = roles.isOfSite || own.length === groups.length;
  const places = [...(isWhole ? [EVERYWHERE] : []), ...own.map(outOfGroup)];
  return places.length > 1 || !isWhole ? places : null;
}

const inGroup = (group: string) => ({ value: group, text: `The group ${group}` });

const outOfGroup = (group: string) => ({ value: group, text: `Out of the group ${group}` });

/** Refusals of other fields, such as `subjectId`, are about the whole form. */
function ofField(refusal: Refusal): Refusal {
  return FIELDS.includes(refusal.field?.[1] ?? "") ? refusal : { ...refusal, field: null };
}
