import { type Block, blocksOf } from './markdown-blocks.ts';

export interface Page {
  readonly id: string;
  readonly title: string;
  readonly text: string;
}

export interface Hit {
  readonly id: string;
  readonly title: string;
  /** Where on the page that line stands: "Symptom". */
  readonly section: string;
  /** The line of the page that fits best. */
  readonly line: string;
}

/** Words so common in errors that they mean nothing by themselves. */
const COMMON = new Set(
  'the a an to of in is are was be at and or for on by it its with from error failed'.split(' '),
);

/**
 * The share of the search words that a page must contain. A word counts by how few pages have it: one
 * that is on every page says almost nothing.
 */
const SHARE_MIN = 0.4;
/** Pages that match much less than the best one are left out. */
const OF_BEST_MIN = 0.5;

/** Weights by the place of a word. */
const TITLE_WEIGHT = 3;
const SYMPTOM_WEIGHT = 2;
/** The whole phrase was probably copied from an error message. */
const PHRASE_WEIGHT = 4;
const LINE_WEIGHT = 3;

interface Line {
  readonly section: string;
  readonly text: string;
  readonly words: ReadonlySet<string>;
}

interface Read {
  readonly page: Page;
  readonly lines: readonly Line[];
  readonly words: ReadonlySet<string>;
}

/** The pages that match a symptom or an error message, the best first. */
export function searchPages(symptom: string, pages: readonly Page[]): readonly Hit[] {
  const read = pages.map(readPage);
  const phrase = plain(symptom);
  const asked = [...new Set(wordsOf(symptom))];
  if (asked.length === 0) return [];
  const weights = weightsOf(asked, read);
  const weightOf = (found: readonly string[]) =>
    found.reduce((sum, word) => sum + (weights.get(word) ?? 0), 0);
  const total = weightOf(asked);
  const hits = read.flatMap(({ page: { id, title, text }, lines, words }) => {
    const hasPhrase = asked.length > 1 && plain(`${id} ${title} ${text}`).includes(phrase);
    const found = asked.filter((word) => words.has(word));
    if (!hasPhrase && weightOf(found) / total < SHARE_MIN) return [];
    const line = bestLine(lines, found, weightOf, phrase);
    const inLine = weightOf(found.filter((word) => line.words.has(word))) / total;
    const onPage = found.reduce(
      (sum, word) => sum + weightOf([word]) * placeWeight(word, lines),
      0,
    );
    // Words that stand together say more than the same words here and there.
    const score = onPage * (1 + LINE_WEIGHT * inLine) * (hasPhrase ? PHRASE_WEIGHT : 1);
    return [{ hit: { id, title, section: line.section, line: line.text }, score }];
  });
  const best = Math.max(0, ...hits.map(({ score }) => score));
  return hits
    .filter(({ score }) => score >= best * OF_BEST_MIN)
    .toSorted((left, right) => right.score - left.score)
    .map(({ hit }) => hit);
}

function readPage(page: Page): Read {
  const lines: Line[] = [lineOf('', `${page.id}: ${page.title}`)];
  let section = '';
  for (const block of blocksOf(page.text)) {
    // What stands below the title of the page is as much as its title.
    if (block.is === 'heading') section = block.level === 1 ? '' : block.text;
    else lines.push(...textsOf(block).map((text) => lineOf(section, text)));
  }
  return { page, lines, words: new Set(lines.flatMap(({ words }) => [...words])) };
}

function lineOf(section: string, text: string): Line {
  return { section, text, words: new Set(wordsOf(text)) };
}

/** What can be quoted by itself: a sentence, an item, a line of code. */
function textsOf(block: Block): readonly string[] {
  switch (block.is) {
    case 'code': {
      const lines = block.lines.map((line) => line.trim()).filter(Boolean);
      // Two are one error text that was too long for a line.
      return lines.length === 2 ? [lines.join(' ')] : lines;
    }
    case 'list':
      return block.items.flatMap(({ text }) => sentencesOf(text));
    case 'table':
      return block.rows.map((row) => row.join(' '));
    default:
      return sentencesOf(block.text);
  }
}

function sentencesOf(text: string): readonly string[] {
  return text.split(/(?<=[.!?]) (?=[A-Z/])/);
}

/** By how few pages have it; one that none has counts as if one had it. */
function weightsOf(asked: readonly string[], read: readonly Read[]): ReadonlyMap<string, number> {
  return new Map(
    asked.map((word) => {
      const having = Math.max(1, read.filter(({ words }) => words.has(word)).length);
      return [word, Math.log(1 + (read.length - having + 0.5) / (having + 0.5))];
    }),
  );
}

function placeWeight(word: string, lines: readonly Line[]): number {
  const having = lines.filter(({ words }) => words.has(word));
  const often = 1 + Math.log(having.length);
  if (having.some(({ section }) => section === '')) return TITLE_WEIGHT * often;
  return having.some(({ section }) => section === 'Symptom') ? SYMPTOM_WEIGHT * often : often;
}

function bestLine(
  lines: readonly Line[],
  found: readonly string[],
  weightOf: (words: readonly string[]) => number,
  phrase: string,
): Line {
  const score = ({ words, text, section }: Line) => {
    const sum = weightOf(found.filter((word) => words.has(word)));
    const isWhole = found.length > 1 && plain(text).includes(phrase);
    // Of two that say the same, a symptom is what somebody has seen.
    return sum * (isWhole ? PHRASE_WEIGHT : 1) * (section === 'Symptom' ? 1.5 : 1);
  };
  // The title is shown anyway.
  const [first = lineOf('', ''), ...rest] = lines.slice(1);
  return rest.reduce((left, right) => (score(right) > score(left) ? right : left), first);
}

/** Without ids and numbers, which are of one node alone, and with one form for "mount" and "mounted". */
function wordsOf(text: string): readonly string[] {
  return plain(text)
    .split(' ')
    .filter((word) => word.length > 1 && !COMMON.has(word) && !isId(word))
    .map((word) => (word.length > 4 ? word.replace(ENDING, '') : word));
}

// volumes, mounted, mounting, slowly, deletes
const ENDING = /(?:e|es|ed|ing|ly|(?<!s)s)$/;

// 29da79e5, 385, ca80f370dfb53
function isId(word: string): boolean {
  return /^[\da-f]*\d[\da-f]*$/.test(word);
}

function plain(text: string): string {
  return text
    .toLowerCase()
    .replace(/\bnot[ -]ready\b/g, 'notready')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}
