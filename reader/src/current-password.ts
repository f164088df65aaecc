import type { Refusal } from "./errors";

/** The name is that of the session, so a name and a password that do not belong together are a wrong password. */
export function ofCurrentPassword(refusal: Refusal): Refusal {
  if (refusal.code !== "BAD_CREDENTIALS") return refusal;
  return { ...refusal, field: ["input", "currentPassword"], message: "this is not your current password" };
}

/** The same for who has no password: only a log-in a few minutes ago stands in for it. */
export function ofRecentLogIn(refusal: Refusal): Refusal {
  if (refusal.code !== "BAD_CREDENTIALS") return refusal;
  const message = "your log-in is too long ago for this: log out, log in again, and do it within five minutes";
  return { ...refusal, field: null, message };
}
