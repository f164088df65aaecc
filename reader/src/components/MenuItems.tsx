import { useRef } from "react";
import { useQuery } from "urql";
import { Link, useLocation } from "wouter";
import { logPath } from "../addresses";
import { subjectPath } from "../desk/subjects";
import { graphql } from "../gql";
import { logInPath } from "../log-in";
import { useFirstItem } from "../menus";
import { moderates, moderatesAnything, useRoles } from "../roles";
import { useSession } from "../session";
import { say } from "../status";
import { HideItem } from "./HideItem";
import type { MenuSubject } from "./LineMenu";
import { SaveItem } from "./SaveItem";
import { t } from "../words";

const KEPT_BY_VIEWER = graphql(`
  query KeptByViewer($id: ID!, $hasVoters: Boolean!) {
    node(id: $id) {
      __typename
      id
      ... on Votable {
        viewerHasSaved
      }
      ... on Article {
        viewerHasHidden
        voters(first: 1) @include(if: $hasVoters) {
          totalCount
        }
      }
    }
  }
`);

interface MenuItemsProps {
  subject: MenuSubject;
  close: () => void;
  /** Opens a dialog about the subject. */
  open: (dialog: "flag" | "voters") => void;
}

/**
 * What the menu of an article or a comment offers. Whether the viewer has saved or hidden it, and may read who voted,
 * is asked when the menu opens.
 */
export default function MenuItems({ subject, close, open }: MenuItemsProps) {
  const { id, name, poster, groups, isHidden, hasVoters = false } = subject;
  const list = useRef<HTMLUListElement>(null);
  const session = useSession();
  const roles = useRoles();
  const [, navigate] = useLocation();
  const variables = { id, hasVoters };
  const pause = session === null && !hasVoters;
  const [{ data }] = useQuery({ query: KEPT_BY_VIEWER, variables, pause, requestPolicy: "cache-and-network" });
  const node = data?.node;
  const hasSaved = node && "viewerHasSaved" in node && node.viewerHasSaved;
  const hasHidden = node && "viewerHasHidden" in node && node.viewerHasHidden;
  const mayReadVoters = node && "voters" in node && node.voters;
  const mayModerate = groups ? moderates(roles, groups) : moderatesAnything(roles);
  const mayFlag = !isHidden && poster !== null && session?.username !== poster;
  useFirstItem(list);

  function chooseFlag() {
    close();
    if (session !== null) return open("flag");
    navigate(logInPath());
    say(t("log-in-to-flag"));
  }

  function chooseVoters() {
    close();
    open("voters");
  }

  return (
    <ul ref={list} className="menu" aria-label={name}>
      {mayFlag && (
        <li>
          <button type="button" onClick={chooseFlag}>
            {t("flag-item")}
          </button>
        </li>
      )}
      {!isHidden && (
        <li>
          <SaveItem id={id} name={name} isSaved={Boolean(hasSaved)} close={close} />
        </li>
      )}
      {!isHidden && id.startsWith("article:") && (
        <li>
          <HideItem id={id} title={name} isHidden={Boolean(hasHidden)} close={close} />
        </li>
      )}
      <li>
        <Link href={logPath({ subject: id })}>{t("what-moderators-did")}</Link>
      </li>
      {mayModerate && (
        <li>
          <Link href={subjectPath(id)}>{t("moderate")}</Link>
        </li>
      )}
      {mayReadVoters && (
        <li>
          <button type="button" onClick={chooseVoters}>
            {t("voters-item")}
          </button>
        </li>
      )}
    </ul>
  );
}
