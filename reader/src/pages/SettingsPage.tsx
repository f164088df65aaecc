import "./pages.css";
import { useRef, useState } from "react";
import { useMutation } from "urql";
import { useRenewal } from "../changes";
import { Export } from "../components/Export";
import { Field, Form } from "../components/Form";
import { Leaving } from "../components/Leaving";
import { LogInFirst } from "../components/LogInFirst";
import { Mail } from "../components/Mail";
import { Content, Page } from "../components/Page";
import { inProofForm, type Proof } from "../components/Proof";
import { ProfileForm } from "../components/ProfileForm";
import { Sessions } from "../components/Sessions";
import { ThemeChoices } from "../components/ThemeChoices";
import { explain, REFUSED, type Refusal } from "../errors";
import { usePageQuery } from "../frame";
import { graphql, readFragment } from "../gql";
import type { SettingsPageQuery } from "../gql/graphql";
import { useSession, type Session } from "../session";
import { say } from "../status";
import { t } from "../words";

const SETTINGS_PAGE = graphql(`
  query SettingsPage {
    ...Frame # what the header shows
    viewer {
      id
      ...ProfileForm
    }
    account {
      id
      hasPassword
      email
      isEmailRefused
      isMailOffered
      ...Mail
      ...Sessions
    }
  }
`);

const CHANGE_PASSWORD = graphql(`
  mutation ChangePassword($input: ChangePasswordInput!) {
    changePassword(input: $input) {
      user {
        id
      }
      userErrors {
        ...Refused
      }
    }
  }
`);

type SettingsAccount = NonNullable<SettingsPageQuery["account"]>;

/**
 * Where a viewer edits the profile, chooses the theme, changes the password and the address, chooses which mails come,
 * sees and ends the sessions elsewhere, takes the data along, and leaves.
 */
export default function SettingsPage() {
  const session = useSession();
  const [token] = useState(() => window.location.hash.slice(1));
  const [result, retry] = usePageQuery(SETTINGS_PAGE, {});
  const renew = useRenewal(SETTINGS_PAGE, {});
  if (!session)
    return (
      <Page title={t("settings")}>
        <LogInFirst reason={t("settings-first")} />
      </Page>
    );
  return (
    <Page title={t("settings")} isReady={!result.fetching}>
      <Content result={result} retry={retry}>
        {({ viewer, account }) => (
          <>
            {viewer && <ProfileForm key={session.username} user={viewer} />}
            <ThemeChoices />
            {account && <Account account={account} session={session} token={token} renew={() => void renew()} />}
          </>
        )}
      </Content>
    </Page>
  );
}

interface AccountProps {
  account: SettingsAccount;
  session: Session;
  /** The token of a link by mail that led here, or "". */
  token: string;
  /** Reads the page again. */
  renew: () => void;
}

function Account({ account, session, token, renew }: AccountProps) {
  const proof = proofOf(account, token);
  return (
    <>
      {proof.hasPassword && <ChangePassword session={session} proof={proof} />}
      <Mail account={account} proof={proof} renew={renew} />
      <Sessions account={account} renew={renew} />
      <Export session={session} />
      <Leaving proof={proof} />
    </>
  );
}

/** How the viewer can prove who they are. The token of a link by mail is used up only when a form is sent. */
function proofOf(account: SettingsAccount, token: string): Proof {
  const hasAddress = account.isMailOffered && account.email !== null && !account.isEmailRefused;
  return { hasPassword: account.hasPassword, token: token || null, hasAddress };
}

function ChangePassword({ session, proof }: { session: Session; proof: Proof }) {
  const [, change] = useMutation(CHANGE_PASSWORD);
  const [refusals, setRefusals] = useState<readonly Refusal[]>([]);
  const [fault, setFault] = useState<string | null>(null);
  const section = useRef<HTMLElement>(null);

  async function send(form: FormData) {
    const input = {
      currentPassword: String(form.get("currentPassword")),
      newPassword: String(form.get("newPassword")),
    };
    const { data, error } = await change({ input });
    setFault(error ? explain(error) : null);
    const refused = readFragment(REFUSED, data?.changePassword?.userErrors) ?? [];
    setRefusals(refused.map((refusal) => inProofForm(refusal, proof)));
    if (!data?.changePassword?.user) return;
    section.current?.querySelector("form")?.reset();
    say(t("password-changed"));
  }

  return (
    <section ref={section} aria-labelledby="password">
      <h2 id="password">{t("change-password")}</h2>
      <Form submit={t("change-password")} action={send} refusals={refusals} fault={fault}>
        <PasswordFields username={session.username} />
      </Form>
    </section>
  );
}

/** The name tells password managers whose password it is. */
function PasswordFields({ username }: { username: string }) {
  return (
    <>
      <Field name="username" label={t("name")} autoComplete="username" defaultValue={username} readOnly />
      <Field
        name="currentPassword"
        label={t("current-password")}
        type="password"
        autoComplete="current-password"
        required
      />
      <Field
        name="newPassword"
        label={t("new-password")}
        hint={t("new-password-hint")}
        type="password"
        autoComplete="new-password"
        required
      />
    </>
  );
}
