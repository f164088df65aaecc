import "../pages/pages.css";
import { useState, type ReactNode } from "react";
import { useMutation, type TypedDocumentNode } from "urql";
import { Link, useLocation, useSearch } from "wouter";
import { explain, REFUSED, type Refusal } from "../errors";
import { graphql, readFragment, type FragmentType } from "../gql";
import { nextPath } from "../log-in";
import { beginSession } from "../session";
import { say } from "../status";
import { Field, Form } from "./Form";
import { Page } from "./Page";
import { t } from "../words";

export const NEW_SESSION = graphql(`
  fragment NewSession on SessionPayload {
    user {
      id
      username
    }
    userErrors {
      ...Refused
    }
  }
`);

interface SessionFormProps {
  title: string;
  mutation: TypedDocumentNode<
    { session?: FragmentType<typeof NEW_SESSION> | null },
    { input: { username: string; password: string; cookie: true; invitation?: string } }
  >;
  /** What is sent beside the form. */
  given?: { invitation?: string };
  nameHint?: string;
  passwordHint?: string;
  /** What password managers fill in. */
  password: "current-password" | "new-password";
  /** A link to the other page that opens a session: to register instead of logging in, or the reverse. */
  other?: { question: string; path: string; name: string } | undefined;
  /** What stands above the form. */
  children?: ReactNode;
}

/** A page that opens a session, and then goes back to where it was asked for. */
export function SessionForm(props: SessionFormProps) {
  const { title, mutation, given, nameHint, passwordHint, password, other, children } = props;
  const search = useSearch();
  const { refusals, fault, send } = useOpening(mutation, given);
  return (
    <Page title={title}>
      {children}
      <Form submit={title} action={send} refusals={refusals} fault={fault}>
        <Field
          name="username"
          label={t("name")}
          hint={nameHint}
          autoComplete="username"
          autoCapitalize="none"
          spellCheck={false}
          required
        />
        <Field
          name="password"
          label={t("password")}
          hint={passwordHint}
          type="password"
          autoComplete={password}
          required
        />
      </Form>
      {other && (
        <p className="else">
          {other.question} <Link href={`${other.path}${search && `?${search}`}`}>{other.name}</Link>
        </p>
      )}
      {password === "current-password" && (
        <p className="else">
          <Link href="/forgot">{t("forgot-password")}</Link>
        </p>
      )}
    </Page>
  );
}

/**
 * A refusal; without its field if that is the cookie or the invitation, as the form has no such fields. A field is a
 * path, such as `["input", "cookie"]`. The server refuses a cookie to a page whose address it does not know as one of
 * the site.
 */
export const withoutCookie = (refusal: Refusal): Refusal =>
  ["cookie", "invitation"].includes(refusal.field?.[1] ?? "") ? { ...refusal, field: null } : refusal;

/** Sends the form, and begins the session or says why there is none. */
function useOpening(mutation: SessionFormProps["mutation"], given: SessionFormProps["given"]) {
  const [, openSession] = useMutation(mutation);
  const search = useSearch();
  const [, navigate] = useLocation();
  const [refusals, setRefusals] = useState<readonly Refusal[]>([]);
  const [fault, setFault] = useState<string | null>(null);

  async function send(form: FormData) {
    const username = String(form.get("username")).trim();
    const input = { username, password: String(form.get("password")), cookie: true as const, ...given };
    const { data, error } = await openSession({ input });
    const { user, userErrors } = readFragment(NEW_SESSION, data?.session) ?? {};
    setFault(error ? explain(error) : null);
    setRefusals((readFragment(REFUSED, userErrors) ?? []).map(withoutCookie));
    if (!user) return;
    beginSession(user.username);
    navigate(nextPath(search), { replace: true });
    say(t("logged-in-as", { name: user.username }));
  }

  return { refusals, fault, send };
}
