/** The page of moderators for an article, a comment or a user with this id. */
export const subjectPath = (id: string): string => `/moderation/${encodeURIComponent(id).replace("%3A", ":")}`;

/** What the id in an address is of; null if none can have it. */
export function kindOf(id: string): "article" | "comment" | "user" | null {
  if (/^article:[1-9][0-9]{0,18}$/.test(id)) return "article";
  if (/^comment:[1-9][0-9]{0,18}$/.test(id)) return "comment";
  return /^user:[A-Za-z0-9_-]{2,20}$/.test(id) ? "user" : null;
}
