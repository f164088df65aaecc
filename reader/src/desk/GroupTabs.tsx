import { Tabs } from "../components/Tabs";
import { useRoles } from "../roles";
import { t } from "../words";

interface GroupTabsProps {
  /** The group that is shown; null for all. */
  current: string | null;
  pathOf: (group: string | null) => string;
}

/** Links to what waits for moderators in each group that the viewer moderates, and in the one that is shown. */
export function GroupTabs({ current, pathOf }: GroupTabsProps) {
  const { groups } = useRoles();
  const all = [...new Set([...groups, ...(current === null ? [] : [current])])];
  if (all.length === 0) return null;
  const tabs = [null, ...all].map((group) => ({
    name: group ?? t("all-groups"),
    path: pathOf(group),
    isCurrent: group === current,
  }));
  return <Tabs label={t("groups-title")} tabs={tabs} />;
}
