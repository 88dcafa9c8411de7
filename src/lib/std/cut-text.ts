/** A text of at most so many characters; of a longer one it is told how long it was. */
export function cutText(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most).toWellFormed()}... (${text.length} characters)`;
}
