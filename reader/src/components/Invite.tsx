import { useId, useState } from "react";
import { useMutation } from "urql";
import { invitationLink } from "../addresses";
import { reasonOf, REFUSED } from "../errors";
import { graphql, readFragment } from "../gql";
import { say, sayProblem } from "../status";
import { fullTime } from "../times";

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
    const reason = reasonOf(error, readFragment(REFUSED, data?.createInvitation?.userErrors) ?? []);
    if (reason) return sayProblem(reason);
    const { invitation, expiresAt } = data?.createInvitation ?? {};
    if (!invitation || !expiresAt) return;
    setMade({ link: invitationLink(invitation), expiresAt });
    say("An invitation is made.");
  }

  return (
    <section className="place" aria-labelledby="invite">
      <h2 id="invite">Invite somebody</h2>
      <p className="hint">Who gets the link may register, once, within a week.</p>
      {made && <InvitationLink key={made.link} {...made} />}
      <p>
        <button type="button" aria-disabled={fetching} onClick={() => void make()}>
          {made ? "Make another link" : "Make a link"}
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
      say("The link is copied.");
    } catch {
      sayProblem("The link cannot be copied here: select it.");
    }
  }

  return (
    <div className="field">
      <label htmlFor={id}>Link of the invitation</label>
      <input
        id={id}
        value={link}
        readOnly
        dir="ltr"
        aria-describedby={`${id}-hint`}
        onFocus={(event) => event.currentTarget.select()}
      />
      <p className="hint" id={`${id}-hint`}>
        It is shown only now, and good until {fullTime(Date.parse(expiresAt))}.{" "}
        <button type="button" onClick={() => void copy()}>
          Copy the link
        </button>
      </p>
    </div>
  );
}
