import "./thread.css";
import { useState } from "react";
import { useClient, useQuery, type OperationResult } from "urql";
import { explain, REFUSED, type Refusal } from "../errors";
import { graphql, readFragment } from "../gql";
import type { FlagMutation, FlagReason, UnflagMutation } from "../gql/graphql";
import { say } from "../status";
import { Dialog } from "./Dialog";
import { Field, Form } from "./Form";
import { Time } from "./Time";
import { t } from "../words";
import { Words } from "./Words";

const OWN_FLAG = graphql(`
  query OwnFlag($id: ID!) {
    node(id: $id) {
      __typename
      id
      ... on Votable {
        viewerFlag {
          reason
          at
        }
      }
    }
  }
`);

const FLAGGED = graphql(`
  fragment Flagged on FlagPayload {
    changed
    userErrors {
      ...Refused
    }
  }
`);

const FLAG = graphql(`
  mutation Flag($input: FlagInput!) {
    flagged: flag(input: $input) {
      ...Flagged
    }
  }
`);

const UNFLAG = graphql(`
  mutation Unflag($input: UnflagInput!) {
    flagged: unflag(input: $input) {
      ...Flagged
    }
  }
`);

/** The reasons, and the ids of their texts. */
const REASONS: readonly { reason: FlagReason; text: string }[] = [
  { reason: "SPAM", text: "flag-spam" },
  { reason: "ABUSE", text: "flag-abuse" },
  { reason: "OFF_TOPIC", text: "flag-off-topic" },
  { reason: "ILLEGAL", text: "flag-illegal" },
  { reason: "OTHER", text: "flag-other" },
];

const textOf = (reason: FlagReason): string => REASONS.find((each) => each.reason === reason)?.text ?? "flag-other";

interface FlagProps {
  /** The article or the comment; its name is a title, or "comment by alice". */
  subject: { id: string; name: string };
  close: () => void;
}

/** A dialog that asks moderators to look at an article or a comment, or takes that back if the viewer has done so. */
export default function Flag({ subject, close }: FlagProps) {
  const [{ data, fetching }] = useQuery({
    query: OWN_FLAG,
    variables: { id: subject.id },
    requestPolicy: "network-only",
  });
  if (fetching) return null;
  const flag = data?.node && "viewerFlag" in data.node ? data.node.viewerFlag : null;
  return flag ? <Unflagging {...{ subject, close, flag }} /> : <Flagging {...{ subject, close }} />;
}

function Flagging({ subject: { id: subjectId, name }, close }: FlagProps) {
  const client = useClient();
  const [reason, setReason] = useState<FlagReason>("SPAM");
  const { send, ...refused } = useSend(close);
  const flag = (note: string) => client.mutation(FLAG, { input: { subjectId, reason, note: note || null } });

  return (
    <Dialog title={t("flag-question")} description={t("flag-text", { name })} onCancel={close}>
      <Form
        submit={t("flag")}
        action={(form) => send(flag(noteIn(form)), { ifChanged: t("flagged-now"), ifSame: t("flagged-before") })}
        onCancel={close}
        {...refused}
      >
        <fieldset className="reasons">
          <legend>{t("flag-why")}</legend>
          {REASONS.map((each) => (
            <label key={each.reason}>
              <input
                type="radio"
                name="reason"
                value={each.reason}
                checked={each.reason === reason}
                onChange={() => setReason(each.reason)}
              />
              {t(each.text)}
            </label>
          ))}
        </fieldset>
        <Field name="note" label={t("note")} hint={t("flag-note-hint")} rows={3} />
      </Form>
    </Dialog>
  );
}

const noteIn = (form: FormData): string => String(form.get("note")).trim();

interface UnflaggingProps extends FlagProps {
  flag: { reason: FlagReason; at: string };
}

function Unflagging({ subject: { id: subjectId, name }, close, flag: { reason, at } }: UnflaggingProps) {
  const client = useClient();
  const { send, ...refused } = useSend(close);
  const unflag = () => client.mutation(UNFLAG, { input: { subjectId } });

  return (
    <Dialog title={t("unflag-question")} description={name} onCancel={close}>
      <Form
        submit={t("unflag")}
        action={() => send(unflag(), { ifChanged: t("unflagged"), ifSame: t("not-flagged-before") })}
        onCancel={close}
        {...refused}
      >
        <p>
          <Words id="you-flagged" time={<Time at={at} />} reason={t(textOf(reason))} />
        </p>
      </Form>
    </Dialog>
  );
}

/** `send` sends a request, closes the dialog and says what has changed; or the form shows why it was refused. */
function useSend(close: () => void) {
  const [refusals, setRefusals] = useState<readonly Refusal[]>([]);
  const [fault, setFault] = useState<string | null>(null);

  async function send(
    request: PromiseLike<OperationResult<FlagMutation | UnflagMutation>>,
    { ifChanged, ifSame }: { ifChanged: string; ifSame: string },
  ) {
    const { data, error } = await request;
    const flagged = readFragment(FLAGGED, data?.flagged);
    const refused = readFragment(REFUSED, flagged?.userErrors) ?? [];
    setFault(error ? explain(error) : null);
    setRefusals(refused.map(ofField));
    if (error || refused.length > 0) return;
    close();
    say(flagged?.changed ? ifChanged : ifSame);
  }

  return { send, refusals, fault };
}

/**
 * `field` is the path to what is refused, such as `["input", "note"]`. The form has an input for the note only: other refusals
 * are shown for the form as a whole.
 */
function ofField(refusal: Refusal): Refusal {
  return refusal.field?.[1] === "note" ? refusal : { ...refusal, field: null };
}
