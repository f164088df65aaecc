import type { ReactNode } from "react";
import { Content, Page } from "../components/Page";
import type { FRAME } from "../frame";
import type { FragmentType } from "../gql";
import type { Actions } from "./Actions";
import { mayModerate, OnlyModerators } from "./OnlyModerators";
import { AbsentCase } from "./State";
import { t } from "../words";

/** What moderators did about the subject of the page, newest first. */
export type ActionList = Parameters<typeof Actions>[0]["actions"];
type Data = FragmentType<typeof FRAME> & { moderationLog?: { nodes: ActionList } | null };

interface CasePageProps<D, Subject> extends Omit<Parameters<typeof Content<D>>[0], "children"> {
  title: ReactNode;
  /** What the title of the window names. */
  name: string;
  /** What the page is about; nothing if it is gone. */
  subjectOf: (data: D) => Subject | null | undefined;
  children: (subject: Subject, actions: ActionList) => ReactNode;
}

/** The page of one article, comment or user, for moderators. If that is gone, only what moderators did about it. */
export function CasePage<D extends Data, Subject>(props: CasePageProps<D, Subject>) {
  const { result, retry, title, name, subjectOf, children } = props;
  const actionsOf = (data: D) => data.moderationLog?.nodes ?? [];
  if (result.data && !mayModerate(result.data)) return <OnlyModerators />;
  if (result.data && !subjectOf(result.data)) return <AbsentCase actions={actionsOf(result.data)} />;
  return (
    <Page title={title} windowTitle={t("moderation-of", { name })} isReady={!result.fetching}>
      <Content result={result} retry={retry}>
        {(data) => {
          const subject = subjectOf(data);
          return subject && children(subject, actionsOf(data));
        }}
      </Content>
    </Page>
  );
}
