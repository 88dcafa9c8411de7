export interface Page {
  readonly id: string;
  readonly title: string;
  readonly text: string;
}

export interface Hit {
  readonly id: string;
  readonly title: string;
  /** The line of the page that speaks of it best. */
  readonly line: string;
}

/** Words so common in errors that they tell nothing by themselves. */
const COMMON = new Set([
  'the',
  'a',
  'to',
  'of',
  'in',
  'is',
  'at',
  'and',
  'or',
  'for',
  'error',
  'failed',
]);

/** Half of the telling words must be on the page, or it is chance. */
const SHARE_MIN = 0.5;

/** Pages that speak of a symptom, the best first. The whole phrase counts more than its words. */
export function searchPages(symptom: string, pages: readonly Page[]): readonly Hit[] {
  const phrase = plain(symptom);
  const words = phrase.split(' ').filter((word) => word.length > 1 && !COMMON.has(word));
  if (words.length === 0) return [];
  return pages
    .map((page) => ({ page, share: shareOf(words, phrase, plain(`${page.title} ${page.text}`)) }))
    .filter(({ share }) => share >= SHARE_MIN)
    .toSorted((left, right) => right.share - left.share)
    .map(({ page: { id, title, text } }) => ({ id, title, line: bestLine(text, words) }));
}

function shareOf(words: readonly string[], phrase: string, text: string): number {
  if (text.includes(phrase)) return 2;
  const known = new Set(text.split(' '));
  return words.filter((word) => known.has(word)).length / words.length;
}

function bestLine(text: string, words: readonly string[]): string {
  const prose = text.replace(/^```.*$/gm, '');
  const paragraphs = prose.split(/\n{2,}/).filter((block) => !block.startsWith('#'));
  const score = (block: string) => {
    const known = new Set(plain(block).split(' '));
    return words.filter((word) => known.has(word)).length;
  };
  const best = paragraphs.reduce((left, right) => (score(right) > score(left) ? right : left), '');
  const LINE_CHARACTERS_MAX = 200;
  return best.replace(/\s+/g, ' ').trim().slice(0, LINE_CHARACTERS_MAX);
}

function plain(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}
