import { useState } from "react";
import { useMutation } from "urql";
import { AVATAR_HOSTS } from "../addresses";
import { explain, REFUSED, type Refusal } from "../errors";
import { graphql, readFragment, type FragmentType } from "../gql";
import { say } from "../status";
import { Field, Form } from "./Form";
import { t } from "../words";

const PROFILE_FORM = graphql(`
  fragment ProfileForm on User {
    id
    username
    displayName
    about
    avatarUrl
  }
`);

const EDIT_PROFILE = graphql(`
  mutation EditProfile($input: EditProfileInput!) {
    editProfile(input: $input) {
      user {
        id
        ...ProfileForm
      }
      userErrors {
        ...Refused
      }
    }
  }
`);

/** A form for what the viewer tells about themselves. The picture is asked for only where the site shows pictures. */
export function ProfileForm({ user: fragment }: { user: FragmentType<typeof PROFILE_FORM> }) {
  const user = readFragment(PROFILE_FORM, fragment);
  const [, edit] = useMutation(EDIT_PROFILE);
  const [texts, setTexts] = useState({
    displayName: user.displayName ?? "",
    about: user.about ?? "",
    avatarUrl: user.avatarUrl ?? "",
  });
  const [refusals, setRefusals] = useState<readonly Refusal[]>([]);
  const [fault, setFault] = useState<string | null>(null);

  const field = (name: keyof typeof texts) => ({
    name,
    value: texts[name],
    onChange: ({ target }: { target: { value: string } }) => setTexts({ ...texts, [name]: target.value }),
  });

  async function save() {
    const input = {
      displayName: texts.displayName.trim() || null,
      about: texts.about.trim() ? texts.about : null,
      ...(AVATAR_HOSTS.length > 0 && { avatarUrl: texts.avatarUrl.trim() || null }),
    };
    const { data, error } = await edit({ input });
    setFault(error ? explain(error) : null);
    setRefusals(readFragment(REFUSED, data?.editProfile?.userErrors) ?? []);
    if (data?.editProfile?.user) say(t("profile-changed"));
  }

  return (
    <section aria-labelledby="profile">
      <h2 id="profile">{t("profile")}</h2>
      <Form submit={t("save-profile")} action={save} refusals={refusals} fault={fault}>
        <Field
          {...field("displayName")}
          label={t("display-name")}
          hint={t("display-name-hint", { name: user.username })}
          most={50}
          autoComplete="name"
        />
        <Field {...field("about")} label={t("about-you")} rows={5} most={1_000} hint={t("markdown-hint")} />
        {AVATAR_HOSTS.length > 0 && (
          <Field
            {...field("avatarUrl")}
            label={t("picture-address")}
            hint={t("picture-hint", { hosts: AVATAR_HOSTS.join(", ") })}
            inputMode="url"
            autoComplete="photo"
          />
        )}
      </Form>
    </section>
  );
}
