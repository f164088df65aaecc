import "./pages.css";
import { useState } from "react";
import { useSearch } from "wouter";
import { HAS_PASSWORDS, REGISTRATION } from "../addresses";
import { useRenewal } from "../changes";
import { GroupLink } from "../components/GroupLink";
import { GroupAbout } from "../components/GroupAbout";
import { AddGroup } from "../components/AddGroup";
import { FindGroup } from "../components/FindGroup";
import { Invite } from "../components/Invite";
import { Content, Page } from "../components/Page";
import { Pager } from "../components/Pager";
import { GrantRole, RevokeRole, roleText } from "../components/RoleForms";
import { Time } from "../components/Time";
import { UserLink } from "../components/UserLink";
import { CURSOR_PAGE, cursorPages, useCursors } from "../cursors";
import { usePageQuery } from "../frame";
import { graphql, readFragment, type DocumentType, type FragmentType } from "../gql";
import { useRoles } from "../roles";
import { t } from "../words";
import { Words } from "../components/Words";

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

const GROUP_ROLES = graphql(`
  fragment GroupRoles on Group {
    id
    name
    title
    ...GroupAbout
    moderators(first: $most) {
      ...Holders
    }
  }
`);

const ROLES = graphql(`
  query Roles(
    $most: Int!
    $name: String!
    $isNamed: Boolean!
    $first: Int
    $after: String
    $last: Int
    $before: String
  ) {
    ...Frame # what the header shows
    siteModerators(first: $most) {
      ...Holders
    }
    group(name: $name) @include(if: $isNamed) {
      id
      isListed
      articles(first: 1) {
        totalCount
      }
      moderators(first: $most) {
        totalCount
      }
      ...GroupRoles
    }
    groups(first: $first, after: $after, last: $last, before: $before) @skip(if: $isNamed) {
      nodes {
        id
        ...GroupRoles
      }
      pageInfo {
        ...Cursors
      }
    }
  }
`);

const PATH = "/moderation/roles";

/** How many holders of roles are listed for the site, and for each group. */
const MOST = 25;

/** Who has which role in the site and in groups, for everybody; admins give and take roles, and add groups. */
export default function RolesPage() {
  const name = new URLSearchParams(useSearch()).get("group") || null;
  const variables = { most: MOST, name: name ?? "", isNamed: name !== null, ...useCursors(CURSOR_PAGE) };
  const [result, retry] = usePageQuery(ROLES, variables);
  const renew = useRenewal(ROLES, variables);
  return (
    <Page title={t("roles-and-groups")} isReady={!result.fetching}>
      <Content result={result} retry={retry}>
        {(data) => <Places key={name} data={data} name={name} renew={() => void renew()} />}
      </Content>
    </Page>
  );
}

interface PlacesProps {
  data: DocumentType<typeof ROLES>;
  /** The group that is asked for; null for all. */
  name: string | null;
  /** Reads the page again, after a role was given or taken. */
  renew: () => void;
}

function Places({ data: { siteModerators, group, groups }, name, renew }: PlacesProps) {
  const { isAdmin } = useRoles();
  // The server answers for every name that a group can have, also for groups that nobody uses.
  const isThere = group && (group.isListed || group.articles.totalCount + group.moderators.totalCount > 0);
  const shown = readFragment(GROUP_ROLES, groups ? groups.nodes : isThere ? [group] : []);
  return (
    <>
      <section className="place" aria-labelledby="whole-site">
        <h2 id="whole-site">{t("whole-site")}</h2>
        {siteModerators && <Holders holders={siteModerators} group={null} renew={renew} />}
      </section>
      {isAdmin && (
        <section className="place" aria-labelledby="give">
          <h2 id="give">{t("give-role")}</h2>
          <GrantRole onDone={renew} />
        </section>
      )}
      {isAdmin && HAS_PASSWORDS && REGISTRATION === "invited" && <Invite />}
      <section className="place" aria-labelledby="groups">
        <h2 id="groups">{t("groups-title")}</h2>
        {isAdmin && <AddGroup onDone={renew} />}
        <FindGroup path={PATH} current={name} />
        {shown.length === 0 && (
          <p className="empty" role="status">
            {name === null ? t("roles-no-groups") : t("no-such-group")}
          </p>
        )}
        {shown.map((each) => (
          <section key={each.id} className="place" aria-label={each.name} data-keyboard-item="" tabIndex={-1}>
            <h3>
              <GroupLink name={each.name} /> {each.title && <span dir="auto">{each.title}</span>}
            </h3>
            <Holders holders={each.moderators} group={each.name} renew={renew} />
            <GroupAbout group={each} />
          </section>
        ))}
        {groups && <Pager {...cursorPages(PATH, groups.pageInfo)} />}
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

function Holders({ holders: fragment, group, renew }: HoldersProps) {
  const { nodes, totalCount } = readFragment(HOLDERS, fragment);
  const { isAdmin } = useRoles();
  const [revoking, setRevoking] = useState<string | null>(null);
  const grants = nodes.flatMap(({ id, username, roles }) =>
    roles
      .filter((grant) => (grant.group?.name ?? null) === group)
      .map((grant) => ({
        ...grant,
        userId: id,
        username,
        key: `${id} ${grant.role}`,
      })),
  );
  if (grants.length === 0) return <p className="hint">{t("no-moderators")}</p>;
  return (
    <>
      <ul className="holders">
        {grants.map(({ key, username, role, grantedAt, userId }) => (
          <li key={key}>
            <span>
              <Words
                id="is-role-since"
                user={<UserLink username={username} />}
                role={roleText(role)}
                time={<Time at={grantedAt} />}
              />
            </span>
            {isAdmin && (
              <button
                type="button"
                aria-label={t("take-role-from", { role: roleText(role), name: username })}
                onClick={() => setRevoking(key)}
              >
                {t("take-role")}
              </button>
            )}
            {revoking === key && (
              <RevokeRole {...{ userId, username, role, group }} close={() => setRevoking(null)} onDone={renew} />
            )}
          </li>
        ))}
      </ul>
      {totalCount > nodes.length && (
        <p className="hint">{t("more-not-listed", { count: totalCount - nodes.length })}</p>
      )}
    </>
  );
}
