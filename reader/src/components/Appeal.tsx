import "./thread.css";
import { useId, useRef, useState } from "react";
import { useClient, useQuery } from "urql";
import { explain, REFUSED, type Refusal } from "../errors";
import { graphql, readFragment } from "../gql";
import type { AppealedFragment } from "../gql/graphql";
import { say } from "../status";
import { Field, Form } from "./Form";
import { focusHeading } from "./Page";
import { Time } from "./Time";
import { UserLink } from "./UserLink";
import { t } from "../words";
import { Words } from "./Words";

/** For pages that show an action to the user whom it is against: `Appeal` then finds their appeal in the cache. */
export const APPEALED = graphql(`
  fragment Appealed on ModerationAction {
    id
    appeal {
      id
      text
      at
      answer
      answeredAt
      answeredBy {
        id
        username
      }
    }
  }
`);

const APPEAL_TO = graphql(`
  query AppealTo($id: ID!) {
    node(id: $id) {
      __typename
      id
      ...Appealed
    }
  }
`);

const APPEAL = graphql(`
  mutation Appeal($input: AppealInput!) {
    appeal(input: $input) {
      action {
        id
        ...Appealed
      }
      userErrors {
        ...Refused
      }
    }
  }
`);

/** The appeal of somebody against an action about them or their text, and its answer; before it, a button to appeal. */
export function Appeal({ actionId }: { actionId: string }) {
  const [{ data }] = useQuery({ query: APPEAL_TO, variables: { id: actionId }, requestPolicy: "cache-first" });
  if (data?.node?.__typename !== "ModerationAction") return null;
  const { appeal } = readFragment(APPEALED, data.node);
  return appeal ? <Sent appeal={appeal} /> : <AppealButton actionId={actionId} />;
}

/** The text and the answer, which has no text if the action was reverted. */
function Sent({ appeal: { text, at, answer, answeredAt, answeredBy } }: SentProps) {
  return (
    <p className="hint appeal">
      <Words id="appealed" time={<Time at={at} />} text={<q dir="auto">{text}</q>} />{" "}
      {answer && answeredAt && answeredBy ? (
        <Words
          id="appeal-answered"
          user={<UserLink username={answeredBy.username} />}
          time={<Time at={answeredAt} />}
          text={<q dir="auto">{answer}</q>}
        />
      ) : (
        !answeredAt && t("appeal-will-be-read")
      )}
    </p>
  );
}

interface SentProps {
  appeal: NonNullable<AppealedFragment["appeal"]>;
}

/** A button that opens the form. */
function AppealButton({ actionId }: { actionId: string }) {
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();
  const [isOpen, setOpen] = useState(false);

  function close() {
    button.current?.focus();
    setOpen(false);
  }

  return (
    <div className="appeal">
      <button ref={button} type="button" aria-expanded={isOpen} aria-controls={id} onClick={() => setOpen(!isOpen)}>
        {t("appeal")}
      </button>
      <div id={id}>{isOpen && <AppealForm {...{ actionId, close }} />}</div>
    </div>
  );
}

interface AppealFormProps {
  actionId: string;
  close: () => void;
}

function AppealForm({ actionId, close }: AppealFormProps) {
  const client = useClient();
  const [text, setText] = useState("");
  const [refusals, setRefusals] = useState<readonly Refusal[]>([]);
  const [fault, setFault] = useState<string | null>(null);

  async function send() {
    const { data, error } = await client.mutation(APPEAL, { input: { actionId, text } });
    const refused = readFragment(REFUSED, data?.appeal?.userErrors) ?? [];
    setFault(error ? explain(error) : null);
    // `field` is a path: only `["input", "text"]` is a field of this form, other refusals are about the whole form.
    setRefusals(refused.map((each) => (each.field?.[1] === "text" ? each : { ...each, field: null })));
    if (error || refused.length > 0) return;
    focusHeading(); // the form is gone, and had the focus
    say(t("appeal-sent"));
  }

  return (
    <div className="write">
      <Form submit={t("send-appeal")} action={send} onCancel={close} {...{ refusals, fault }}>
        <Field
          name="text"
          label={t("your-appeal")}
          hint={t("appeal-hint")}
          rows={4}
          most={5_000}
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
      </Form>
    </div>
  );
}
