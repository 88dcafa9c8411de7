/**
 * The beginning and the end of a text that would fill the screen: what matters is in one of them.
 * It is cut between words only. `whole` is the option that shows all of it.
 */
export function excerpt(text: string, most: number, whole: string): string {
  if (text.length <= most) return text;
  const begin = text.lastIndexOf(' ', most / 2);
  const end = text.indexOf(' ', text.length - most / 2);
  if (begin < 0 || end < begin) return text;
  const left = `[${end - begin - 1} characters left out: ${whole}]`;
  return `${text.slice(0, begin)} ${left} ${text.slice(end + 1)}`;
}
