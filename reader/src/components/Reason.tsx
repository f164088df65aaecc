/** Why a moderator did something, in the words of the moderator; nothing without a reason. */
export function Reason({ text }: { text: string }) {
  if (!text) return null;
  return (
    <p className="excerpt" dir="auto">
      {text}
    </p>
  );
}
