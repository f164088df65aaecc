import { LogInFirst } from "../components/LogInFirst";
import { Page } from "../components/Page";
import { FRAME } from "../frame";
import { readFragment, type FragmentType } from "../gql";
import { moderatesAnything, rolesOf } from "../roles";
import { useSession } from "../session";
import { t } from "../words";

/** Whether the viewer of a page moderates anything, by the data of the page. */
export function mayModerate(data: FragmentType<typeof FRAME>): boolean {
  return moderatesAnything(rolesOf(readFragment(FRAME, data).viewer?.roles ?? []));
}

/** What the pages of moderators show to users who moderate nothing. */
export function OnlyModerators() {
  const session = useSession();
  return (
    <Page title={t("only-moderators")}>
      {session === null ? (
        <LogInFirst reason={t("only-moderators-text")} />
      ) : (
        <p className="empty">{t("only-moderators-text")}</p>
      )}
    </Page>
  );
}
