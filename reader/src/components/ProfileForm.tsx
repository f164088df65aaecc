import { useState } from "react";
import { useMutation } from "urql";
import { AVATAR_HOSTS } from "../addresses";
import { explain, REFUSED, type Refusal } from "../errors";
import { graphql, readFragment, type FragmentType } from "../gql";
import { say } from "../status";
import { MARKDOWN_HINT } from "./ArticleForm";
import { Field, Form } from "./Form";

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

/** What the viewer writes about themselves. The picture is asked for only where the site shows pictures. */
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
    if (data?.editProfile?.user) say("Your profile is changed.");
  }

  return (
    <section aria-labelledby="profile">
      <h2 id="profile">Profile</h2>
      <Form submit="Save the profile" action={save} refusals={refusals} fault={fault}>
        <Field
          {...field("displayName")}
          label="Name as people read it"
          hint={`Without one, they read ${user.username}.`}
          most={50}
          autoComplete="name"
        />
        <Field {...field("about")} label="About you" rows={5} most={1_000} hint={MARKDOWN_HINT} />
        {AVATAR_HOSTS.length > 0 && (
          <Field
            {...field("avatarUrl")}
            label="Address of a picture"
            hint={`Shown from ${AVATAR_HOSTS.join(", ")}; else one is drawn from your name.`}
            inputMode="url"
            autoComplete="photo"
          />
        )}
      </Form>
    </section>
  );
}
