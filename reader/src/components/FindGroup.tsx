import { Link, useLocation } from "wouter";
import { withQuery } from "../addresses";
import { Field, Form } from "./Form";
import { t } from "../words";

interface FindGroupProps {
  /** The page of groups, which shows the one that `group` of its address names. */
  path: string;
  /** The group that is shown; null for all. */
  current: string | null;
}

/** A form that leads to a group by its name, and from there back to all. */
export function FindGroup({ path, current }: FindGroupProps) {
  const [, navigate] = useLocation();
  const find = async (form: FormData) => navigate(withQuery(path, { group: String(form.get("group")).trim() }));
  return (
    <>
      <Form label={t("find-group")} submit={t("find")} action={find}>
        <Field
          name="group"
          label={t("name-of-group")}
          defaultValue={current ?? ""}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
        />
      </Form>
      {current !== null && (
        <p>
          <Link href={path}>{t("all-groups")}</Link>
        </p>
      )}
    </>
  );
}
