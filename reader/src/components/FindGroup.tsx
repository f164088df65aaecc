import { Link, useLocation } from "wouter";
import { withQuery } from "../addresses";
import { Field, Form } from "./Form";

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
      <Form label="Find a group" submit="Find" action={find}>
        <Field
          name="group"
          label="Name of the group"
          defaultValue={current ?? ""}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
        />
      </Form>
      {current !== null && (
        <p>
          <Link href={path}>All groups</Link>
        </p>
      )}
    </>
  );
}
