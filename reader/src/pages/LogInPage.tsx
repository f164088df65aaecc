import { Entrance } from "../components/Entrance";
import { graphql } from "../gql";

const LOG_IN = graphql(`
  mutation LogIn($input: LogInInput!) {
    session: logIn(input: $input) {
      ...NewSession
    }
  }
`);

/** Opens a session of a user. */
export default function LogInPage() {
  const other = { question: "New here?", path: "/register", name: "Register" };
  return <Entrance title="Log in" mutation={LOG_IN} password="current-password" other={other} />;
}
