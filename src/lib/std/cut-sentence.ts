/**
 * A text of about so many characters at most. A longer one ends after a whole sentence or clause, or
 * else after a whole word, and says how much is left out.
 */
export function cutSentence(text: string, most: number): string {
  if (text.length <= most) return text;
  const head = text.slice(0, most);
  // "Nothing is active (kubediag recover ...); the pod waits. It has ..."
  const ends = [...head.matchAll(/[.;](?=\s)/g)].map(({ index }) => index);
  const end = ends.findLast((at) => at > most / 2) ?? head.lastIndexOf(' ');
  const stored = (end > 0 ? head.slice(0, end) : head).toWellFormed();
  return `${stored} ... (${text.length - stored.length} more characters)`;
}
