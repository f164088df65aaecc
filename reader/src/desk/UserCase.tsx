import { usePageQuery } from "../frame";
import { graphql } from "../gql";
import { CasePage } from "./CasePage";
import { History } from "./History";
import { t } from "../words";

const USER_CASE = graphql(`
  query UserCase($username: String!) {
    ...Frame # what the header shows
    user(username: $username) {
      id
      username
    }
  }
`);

/** The page of moderators for one user. */
export function UserCase({ username }: { username: string }) {
  const [result, retry] = usePageQuery(USER_CASE, { username });
  return (
    <CasePage title={t("moderation")} name={username} subjectOf={(data) => data.user} {...{ result, retry }}>
      {(user) => <History user={user} />}
    </CasePage>
  );
}
