import "./pages.css";
import { useState } from "react";
import { useRenewal } from "../changes";
import { GroupLink } from "../components/GroupLink";
import { GroupAbout } from "../components/GroupAbout";
import { AddGroup } from "../components/AddGroup";
import { Content, Page } from "../components/Page";
import { Pager } from "../components/Pager";
import { GrantRole, RevokeRole, roleText } from "../components/RoleForms";
import { Time } from "../components/Time";
import { UserLink } from "../components/UserLink";
import { CURSOR_PAGE, cursorPages, useCursors } from "../cursors";
import { usePageQuery } from "../frame";
import { graphql, readFragment, type DocumentType, type FragmentType } from "../gql";
import { useRoles } from "../roles";

const HOLDERS = graphql(`
  fragment Holders on UserConnection {
    totalCount
    nodes {
      id
      username
      roles {
        role
        grantedAt
        group {
          id
          name
        }
      }
    }
  }
`);

const ROLES = graphql(`
  query Roles($most: Int!, $first: Int, $after: String, $last: Int, $before: String) {
    ...Frame
    siteModerators(first: $most) {
      ...Holders
    }
    groups(first: $first, after: $after, last: $last, before: $before) {
      nodes {
        id
        name
        title
        ...GroupAbout
        moderators(first: $most) {
          ...Holders
        }
      }
      pageInfo {
        ...Cursors
      }
    }
  }
`);

/** The holders of roles that are listed for the site, and for each group. */
const MOST = 25;

/** Who has which role in the site and in groups, for everybody; admins give and take roles, and add groups. */
export default function RolesPage() {
  const variables = { most: MOST, ...useCursors(CURSOR_PAGE) };
  const [result, retry] = usePageQuery(ROLES, variables);
  const renew = useRenewal(ROLES, variables);
  return (
    <Page title="Roles and groups" isReady={!result.fetching}>
      <Content result={result} retry={retry}>
        {(data) => <Places data={data} renew={() => void renew()} />}
      </Content>
    </Page>
  );
}

interface PlacesProps {
  data: DocumentType<typeof ROLES>;
  /** Reads the page again, after a role was given or taken. */
  renew: () => void;
}

function Places({ data: { siteModerators, groups }, renew }: PlacesProps) {
  const { isAdmin } = useRoles();
  return (
    <>
      <section className="place" aria-labelledby="whole-site">
        <h2 id="whole-site">The whole site</h2>
        {siteModerators && <Holders holders={siteModerators} group={null} renew={renew} />}
      </section>
      {isAdmin && (
        <section className="place" aria-labelledby="give">
          <h2 id="give">Give a role</h2>
          <GrantRole onDone={renew} />
        </section>
      )}
      <section className="place" aria-labelledby="groups">
        <h2 id="groups">Groups</h2>
        {isAdmin && <AddGroup onDone={renew} />}
        {groups?.nodes.length === 0 && <p className="empty">There are no groups yet.</p>}
        {groups?.nodes.map((group) => (
          <section key={group.id} className="place" aria-label={group.name} data-item="" tabIndex={-1}>
            <h3>
              <GroupLink name={group.name} /> {group.title && <span dir="auto">{group.title}</span>}
            </h3>
            <Holders holders={group.moderators} group={group.name} renew={renew} />
            <GroupAbout group={group} />
          </section>
        ))}
        {groups && <Pager {...cursorPages("/moderation/roles", groups.pageInfo)} />}
      </section>
    </>
  );
}

interface HoldersProps {
  holders: FragmentType<typeof HOLDERS>;
  /** The group in which they have the role; null for the whole site. */
  group: string | null;
  renew: () => void;
}

function Holders({ holders: masked, group, renew }: HoldersProps) {
  const { nodes, totalCount } = readFragment(HOLDERS, masked);
  const { isAdmin } = useRoles();
  const [revoking, setRevoking] = useState<string | null>(null);
  const all = nodes.flatMap(({ id, username, roles }) =>
    roles
      .filter((grant) => (grant.group?.name ?? null) === group)
      .map((grant) => ({ ...grant, userId: id, username, key: `${id} ${grant.role}` })),
  );
  if (all.length === 0) return <p className="hint">No moderators of its own.</p>;
  return (
    <>
      <ul className="holders">
        {all.map(({ key, username, role, grantedAt, userId }) => (
          <li key={key}>
            <span>
              <UserLink username={username} /> is {roleText(role)} since <Time at={grantedAt} />
            </span>
            {isAdmin && (
              <button
                type="button"
                aria-label={`Take the role of ${roleText(role)} from ${username}`}
                onClick={() => setRevoking(key)}
              >
                Take the role
              </button>
            )}
            {revoking === key && (
              <RevokeRole {...{ userId, username, role, group }} close={() => setRevoking(null)} onDone={renew} />
            )}
          </li>
        ))}
      </ul>
      {totalCount > nodes.length && <p className="hint">{totalCount - nodes.length} more are not listed here.</p>}
    </>
  );
}
