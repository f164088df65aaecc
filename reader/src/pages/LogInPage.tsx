import "./pages.css";
import { useMutation } from "urql";
import { Link, useSearch } from "wouter";
import { Field, Form } from "../components/Form";
import { Page } from "../components/Page";
import { credentials, useEntrance } from "../entrance";
import { graphql } from "../gql";

const LOG_IN = graphql(`
  mutation LogIn($input: LogInInput!) {
    logIn(input: $input) {
      ...NewSession
    }
  }
`);

/** Opens a session of a user. */
export default function LogInPage() {
  const search = useSearch();
  const [, logIn] = useMutation(LOG_IN);
  const { refusals, fault, enter } = useEntrance();

  async function send(form: FormData) {
    const { data, error } = await logIn({ input: credentials(form) });
    enter({ payload: data?.logIn, error });
  }

  return (
    <Page title="Log in">
      <Form submit="Log in" action={send} refusals={refusals} fault={fault}>
        <Field name="username" label="Name" autoComplete="username" autoCapitalize="none" spellCheck={false} required />
        <Field name="password" label="Password" type="password" autoComplete="current-password" required />
      </Form>
      <p className="else">
        New here? <Link href={`/register${search && `?${search}`}`}>Register</Link>
      </p>
    </Page>
  );
}
