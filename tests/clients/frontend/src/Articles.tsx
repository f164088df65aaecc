import { useApolloClient, useQuery, useSubscription } from "@apollo/client/react";
import { useState } from "react";
import { PAGE, RANKING } from "./queries";
import { vote } from "./votes";

export function Articles() {
  const client = useApolloClient();
  const { data, fetchMore } = useQuery(PAGE);
  const [problem, setProblem] = useState<string>();
  useSubscription(RANKING); // the cache takes the votes of each message, and shows them
  const page = data?.articles;
  if (!page) return null;

  return (
    <>
      <ul>
        {page.edges.map(({ node }) => (
          <li key={node.id}>
            <button
              aria-pressed={node.viewerVote === "UP"}
              onClick={async () => setProblem(await vote(client, node, node.viewerVote === "UP" ? "NONE" : "UP"))}
            >
              ▲
            </button>{" "}
            {node.votes} {node.title}
          </li>
        ))}
      </ul>
      {problem && <p role="alert">{problem}</p>}
      {page.pageInfo.hasNextPage && (
        <button onClick={() => void fetchMore({ variables: { after: page.pageInfo.endCursor } })}>More</button>
      )}
    </>
  );
}
