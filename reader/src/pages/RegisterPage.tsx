import "./pages.css";
import { useMutation } from "urql";
import { Link, useSearch } from "wouter";
import { Field, Form } from "../components/Form";
import { Page } from "../components/Page";
import { credentials, useEntrance } from "../entrance";
import { graphql } from "../gql";

const REGISTER = graphql(`
  mutation Register($input: RegisterInput!) {
    register(input: $input) {
      ...NewSession
    }
  }
`);

/** Creates a user with a session. */
export default function RegisterPage() {
  const search = useSearch();
  const [, register] = useMutation(REGISTER);
  const { refusals, fault, enter } = useEntrance();

  async function send(form: FormData) {
    const { data, error } = await register({ input: credentials(form) });
    enter({ payload: data?.register, error });
  }

  return (
    <Page title="Register">
      <Form submit="Register" action={send} refusals={refusals} fault={fault}>
        <Field
          name="username"
          label="Name"
          hint="2 to 20 letters, digits, _ and -. Everybody can see it."
          autoComplete="username"
          autoCapitalize="none"
          spellCheck={false}
          required
        />
        <Field
          name="password"
          label="Password"
          hint="At least 8 characters."
          type="password"
          autoComplete="new-password"
          required
        />
      </Form>
      <p className="else">
        Registered already? <Link href={`/log-in${search && `?${search}`}`}>Log in</Link>
      </p>
    </Page>
  );
}
