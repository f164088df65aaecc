import "./thread.css";
import { useEffect, useRef, useState } from "react";
import { useQuery } from "urql";
import { graphql } from "../gql";
import { t } from "../words";
import { Dialog } from "./Dialog";
import { Content } from "./Page";
import { UserLink } from "./UserLink";

const VOTERS = graphql(`
  query Voters($id: ID!, $after: String) {
    article(id: $id) {
      id
      voters(first: 100, after: $after) {
        nodes {
          id
          username
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  }
`);

interface VotersProps {
  /** The article; its name is the title. */
  subject: { id: string; name: string };
  close: () => void;
}

/** A dialog with the names of the users who voted an article up. Who voted down is told to nobody. */
export default function Voters({ subject: { id, name }, close }: VotersProps) {
  return (
    <Dialog title={t("voters-title")} description={name} onCancel={close}>
      <VotersPage id={id} after={null} />
      <div className="buttons">
        <button type="button" onClick={close}>
          {t("close")}
        </button>
      </div>
    </Dialog>
  );
}

/** A page of names, and below it a button, which the next page replaces. */
function VotersPage({ id, after }: { id: string; after: string | null }) {
  const [result, retry] = useQuery({ query: VOTERS, variables: { id, after }, requestPolicy: "network-only" });
  const [isLast, setLast] = useState(true); // no further page is shown below it
  const list = useRef<HTMLUListElement>(null);
  const isThere = Boolean(result.data);
  useEffect(() => {
    if (isThere && after !== null) list.current?.querySelector("a")?.focus(); // the button that was pressed is gone
  }, [isThere, after]);
  return (
    <Content result={result} retry={retry}>
      {({ article }) => {
        const { nodes, pageInfo } = article?.voters ?? { nodes: [], pageInfo: null };
        return (
          <>
            <ul ref={list} className="voters">
              {nodes.map(({ id, username }) => (
                <li key={id}>
                  <UserLink username={username} />
                </li>
              ))}
            </ul>
            {nodes.length === 0 && <p>{t("voters-none")}</p>}
            {pageInfo?.hasNextPage &&
              (isLast ? (
                <button type="button" onClick={() => setLast(false)}>
                  {t("more")}
                </button>
              ) : (
                <VotersPage id={id} after={pageInfo.endCursor ?? null} />
              ))}
          </>
        );
      }}
    </Content>
  );
}
