/** A shorter cut costs the reader more than it saves: the mark in its place has about 35 characters. */
const CUT_CHARACTERS_MIN = 80;

/**
 * The beginning and the end of a text that would fill the screen: what matters is in one of them.
 * It is cut behind a sentence, a clause or an item of a list; between words only where a text has none
 * of them. `whole` is the option that shows all of it.
 */
export function excerpt(text: string, most: number, whole: string): string {
  if (text.length < most + CUT_CHARACTERS_MIN) return text;
  const tail = text.length - Math.floor(most / 2);
  const begin = endBefore(text.slice(0, Math.floor(most / 2)));
  const end = tail + startWithin(text.slice(tail));
  if (begin <= 0 || end - begin < CUT_CHARACTERS_MIN) return text;
  const left = `[${end - begin - 1} characters left out: ${whole}]`;
  return `${text.slice(0, begin)} ${left} ${text.slice(end)}`;
}

// "; ", ". ", ", "
const CLAUSE_END = /[;.,](?= )/g;

/** Where the last clause of this text ends, or else its last word. */
function endBefore(text: string): number {
  const last = [...text.matchAll(CLAUSE_END)].at(-1);
  return last ? last.index + 1 : text.lastIndexOf(' ');
}

/** Where the first whole clause of this text begins, or else its first whole word. */
function startWithin(text: string): number {
  const [first] = text.matchAll(CLAUSE_END);
  return first ? first.index + 2 : text.indexOf(' ') + 1;
}
