import { useId, useState } from "react";
import { useMutation } from "urql";
import { invitationLink } from "../addresses";
import { reasonOf } from "../errors";
import { graphql } from "../gql";
import { say, sayProblem } from "../status";
import { fullTime } from "../times";
import { t } from "../words";

const CREATE_INVITATION = graphql(`
  mutation CreateInvitation {
    createInvitation {
      invitation
      expiresAt
      userErrors {
        ...Refused
      }
    }
  }
`);

/** An invitation as it is shown: a link that is used once, and until when, in ISO 8601. */
interface Invitation {
  link: string;
  expiresAt: string;
}

/** For admins: makes a link by which one person may register. It is shown once, as the server keeps only its digest. */
export function Invite() {
  const [{ fetching }, create] = useMutation(CREATE_INVITATION);
  const [made, setMade] = useState<Invitation | null>(null);

  async function make() {
    if (fetching) return;
    const { data, error } = await create({});
    const reason = reasonOf(error, data?.createInvitation?.userErrors);
    if (reason) return sayProblem(reason);
    const { invitation, expiresAt } = data?.createInvitation ?? {};
    if (!invitation || !expiresAt) return;
    setMade({ link: invitationLink(invitation), expiresAt });
    say(t("invitation-made"));
  }

  return (
    <section className="place" aria-labelledby="invite">
      <h2 id="invite">{t("invite")}</h2>
      <p className="hint">{t("invite-text")}</p>
      {made && <InvitationLink key={made.link} {...made} />}
      <p>
        <button type="button" aria-disabled={fetching} onClick={() => void make()}>
          {made ? t("make-another-link") : t("make-link")}
        </button>
      </p>
    </section>
  );
}

/** A link to copy, also by hand where the page may not write to the clipboard. */
function InvitationLink({ link, expiresAt }: Invitation) {
  const id = useId();

  async function copy() {
    try {
      await navigator.clipboard.writeText(link);
      say(t("link-copied"));
    } catch {
      sayProblem(t("link-not-copied"));
    }
  }

  return (
    <div className="field">
      <label htmlFor={id}>{t("invitation-link")}</label>
      <input
        id={id}
        value={link}
        readOnly
        dir="ltr"
        aria-describedby={`${id}-hint`}
        onFocus={(event) => event.currentTarget.select()}
      />
      <p className="hint" id={`${id}-hint`}>
        {t("invitation-hint", { until: fullTime(Date.parse(expiresAt)) })}{" "}
        <button type="button" onClick={() => void copy()}>
          {t("copy-link")}
        </button>
      </p>
    </div>
  );
}
