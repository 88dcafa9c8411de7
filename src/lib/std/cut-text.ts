/** Cuts a text to `most` characters; a cut text ends with its original length. */
export function cutText(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most).toWellFormed()}... (${text.length} characters)`;
}
