import { Entrance } from "../components/Entrance";
import { graphql } from "../gql";

const REGISTER = graphql(`
  mutation Register($input: RegisterInput!) {
    session: register(input: $input) {
      ...NewSession
    }
  }
`);

/** Creates a user with a session. */
export default function RegisterPage() {
  return (
    <Entrance
      title="Register"
      mutation={REGISTER}
      nameHint="2 to 20 letters, digits, _ and -. Everybody can see it."
      passwordHint="At least 8 characters."
      password="new-password"
      other={{ question: "Registered already?", path: "/log-in", name: "Log in" }}
    />
  );
}
