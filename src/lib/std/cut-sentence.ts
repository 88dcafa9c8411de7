/**
 * Cuts a text to about `most` characters, after a complete sentence or clause, or else after a
 * word. A cut text says how much is left out.
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
