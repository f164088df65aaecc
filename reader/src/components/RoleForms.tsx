import "./thread.css";
import { useState } from "react";
import { useClient } from "urql";
import { explain, REFUSED, type Refusal } from "../errors";
import { graphql, readFragment, type FragmentType } from "../gql";
import type { Role } from "../gql/graphql";
import { say } from "../status";
import { Dialog } from "./Dialog";
import { Field, Form } from "./Form";
import { t } from "../words";

const ROLE_SET = graphql(`
  fragment RoleSet on ModerationPayload {
    changed
    userErrors {
      ...Refused
    }
  }
`);

const GRANT_ROLE = graphql(`
  mutation GrantRole($input: GrantRoleInput!) {
    done: grantRole(input: $input) {
      ...RoleSet
    }
  }
`);

const REVOKE_ROLE = graphql(`
  mutation RevokeRole($input: RevokeRoleInput!) {
    done: revokeRole(input: $input) {
      ...RoleSet
    }
  }
`);

/** "admin" or "moderator", in the language of the page. */
export const roleText = (role: Role): string => (role === "ADMIN" ? t("role-admin") : t("role-moderator"));

/** What a mutation of a role has returned. */
interface Answer {
  data?: { done?: FragmentType<typeof ROLE_SET> | null } | undefined;
  error?: Parameters<typeof explain>[0] | undefined;
}

/**
 * What a form with these fields shows of the server's answer. A refusal of another field is about the whole form.
 * `note` gets the answer, and returns whether the role has changed, or null after a refusal or a fault.
 */
function useAnswer(...fields: string[]) {
  const [refusals, setRefusals] = useState<readonly Refusal[]>([]);
  const [fault, setFault] = useState<string | null>(null);
  function note({ data, error }: Answer): boolean | null {
    const done = readFragment(ROLE_SET, data?.done);
    const refused = readFragment(REFUSED, done?.userErrors) ?? [];
    setFault(error ? explain(error) : null);
    setRefusals(refused.map((each) => (fields.includes(each.field?.[1] ?? "") ? each : { ...each, field: null })));
    return error || !done || refused.length > 0 ? null : done.changed;
  }
  return { refusals, fault, note };
}

/** A form that gives a user a role in the whole site or in a group. */
export function GrantRole({ onDone }: { onDone: () => void }) {
  const client = useClient();
  const { note, ...shown } = useAnswer("userId", "group", "reason");
  const [round, setRound] = useState(0); // a new, empty form after each role

  async function send(form: FormData) {
    const text = (name: string) => String(form.get(name)).trim();
    const username = text("userId");
    const input = {
      userId: `user:${username.toLowerCase()}`,
      role: text("role") as Role,
      group: text("group") || null,
      reason: text("reason"),
    };
    const changed = note(await client.mutation(GRANT_ROLE, { input }));
    if (changed === null) return;
    setRound(round + 1);
    say(changed ? t("has-role", { name: username }) : t("has-role-already", { name: username }));
    onDone();
  }

  return (
    <Form key={round} label={t("give-role")} submit={t("give-the-role")} action={send} {...shown}>
      <Field name="userId" label={t("name-of-user")} autoComplete="off" autoCapitalize="none" spellCheck={false} />
      <div className="field">
        <label htmlFor="role">{t("role")}</label>
        <select id="role" name="role" defaultValue="MODERATOR">
          <option value="MODERATOR">{t("role-option-moderator")}</option>
          <option value="ADMIN">{t("role-option-admin")}</option>
        </select>
      </div>
      <Field name="group" label={t("group")} hint={t("role-group-hint")} autoComplete="off" autoCapitalize="none" />
      <Field name="reason" label={t("reason")} hint={t("reason-hint")} autoComplete="off" />
    </Form>
  );
}

interface RevokeRoleProps {
  userId: string;
  username: string;
  role: Role;
  /** The name of the group that the role is for; null for the site. */
  group: string | null;
  close: () => void;
  /** Called when the role is taken. */
  onDone: () => void;
}

/** A dialog that asks why a role is taken from a user, and takes it. */
export function RevokeRole({ userId, username, role, group, close, onDone }: RevokeRoleProps) {
  const client = useClient();
  const { note, ...shown } = useAnswer("reason");

  async function send(form: FormData) {
    const reason = String(form.get("reason")).trim();
    const changed = note(await client.mutation(REVOKE_ROLE, { input: { userId, role, group, reason } }));
    if (changed === null) return;
    close();
    say(t("is-no-longer", { name: username, role: roleText(role) }));
    onDone();
  }

  const place = group ? t("place-group", { group }) : t("place-site");
  return (
    <Dialog
      title={t("take-role-question")}
      description={t("is-role-of", { name: username, role: roleText(role), place })}
      onCancel={close}
    >
      <Form submit={t("take-role")} action={send} onCancel={close} {...shown}>
        <Field name="reason" label={t("reason")} hint={t("reason-hint")} autoComplete="off" />
      </Form>
    </Dialog>
  );
}
