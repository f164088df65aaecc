import { LogInFirst } from "../components/LogInFirst";
import { Page } from "../components/Page";
import { FRAME } from "../frame";
import { readFragment, type FragmentType } from "../gql";
import { moderatesAnything, rolesOf } from "../roles";
import { useSession } from "../session";

const TEXT = "This page is for those who moderate this site or one of its groups.";

/** Whether the viewer of a page moderates anything, by the data of the page. */
export function mayModerate(data: FragmentType<typeof FRAME>): boolean {
  return moderatesAnything(rolesOf(readFragment(FRAME, data).viewer?.roles ?? []));
}

/** What the pages of moderators show to others. */
export function OnlyModerators() {
  const session = useSession();
  return (
    <Page title="Only for moderators">
      {session === null ? <LogInFirst reason={TEXT} /> : <p className="empty">{TEXT}</p>}
    </Page>
  );
}
