/** The parts of a Markdown page. */
export type Block =
  | { readonly is: 'heading'; readonly level: number; readonly text: string }
  | { readonly is: 'text'; readonly text: string }
  | { readonly is: 'code'; readonly lines: readonly string[] }
  | { readonly is: 'list'; readonly items: readonly ListItem[] }
  | { readonly is: 'table'; readonly rows: readonly (readonly string[])[] };

export interface ListItem {
  /** "-" or "1." */
  readonly mark: string;
  readonly text: string;
}

// ## How we know
const HEADING = /^(#+) +(.+)$/;
// ```console
const FENCE = /^```/;
// - an item, 2. an item
const ITEM = /^([-*]|\d+[.]) +(.*)$/;
// | code | means |
const ROW = /^\|(.*)\|\s*$/;
// |---|:--|
const RULE = /^\|[\s|:-]+\|\s*$/;

/** The blocks of a page, without Markdown marks. */
export function blocksOf(page: string): readonly Block[] {
  const lines = page.split('\n');
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length; ) {
    const [block, next] = blockAt(lines, at);
    if (block) blocks.push(block);
    at = next;
  }
  return blocks;
}

function blockAt(lines: readonly string[], at: number): readonly [Block | undefined, number] {
  const line = lines[at] ?? '';
  if (line.trim() === '') return [undefined, at + 1];
  if (FENCE.test(line)) {
    const end = lines.findIndex((each, index) => index > at && FENCE.test(each));
    const last = end < 0 ? lines.length : end;
    return [{ is: 'code', lines: lines.slice(at + 1, last) }, last + 1];
  }
  const [, marks, heading = ''] = HEADING.exec(line) ?? [];
  if (marks !== undefined) {
    return [{ is: 'heading', level: marks.length, text: unmarked(heading) }, at + 1];
  }
  if (/^ {4}/.test(line)) {
    // Blank lines belong to it if more code follows.
    const end = endOf(lines, at, (each) => /^( {4}|\s*$)/.test(each));
    const inner = lines.slice(at, end).map((each) => each.slice(4));
    return [{ is: 'code', lines: inner.join('\n').trimEnd().split('\n') }, end];
  }
  if (ROW.test(line)) {
    const end = endOf(lines, at, (each) => ROW.test(each));
    const rows = lines.slice(at, end).filter((each) => !RULE.test(each));
    return [{ is: 'table', rows: rows.map(cellsOf) }, end];
  }
  const isList = ITEM.test(line);
  const end = endOf(lines, at, (each) => each.trim() !== '' && (isList || !startsBlock(each)));
  const text = lines.slice(at, end);
  return [isList ? listOf(text) : { is: 'text', text: unmarked(text.join(' ')) }, end];
}

function endOf(lines: readonly string[], at: number, goesOn: (line: string) => boolean): number {
  const end = lines.findIndex((line, index) => index > at && !goesOn(line));
  return end < 0 ? lines.length : end;
}

function startsBlock(line: string): boolean {
  return [HEADING, FENCE, ITEM, ROW].some((pattern) => pattern.test(line));
}

function listOf(lines: readonly string[]): Block {
  const items: { mark: string; text: string }[] = [];
  for (const line of lines) {
    const [, mark, text = ''] = ITEM.exec(line) ?? [];
    const last = items.at(-1);
    if (mark !== undefined) items.push({ mark, text });
    else if (last) last.text += ` ${line.trim()}`;
  }
  return { is: 'list', items: items.map(({ mark, text }) => ({ mark, text: unmarked(text) })) };
}

function cellsOf(line: string): readonly string[] {
  const inner = ROW.exec(line)?.[1] ?? '';
  return inner.split('|').map((cell) => unmarked(cell.trim()));
}

// [issue 68211](https://example.org/68211), [the page](../page.md)
const LINK = /\[([^\]]+)\]\(([^)]+)\)/g;

/** A link to another file is useless on a terminal: only its text stays. */
function unmarked(text: string): string {
  return text
    .replace(LINK, (_, name: string, target: string) =>
      /^[a-z]+:/.test(target) ? `${name} (${target})` : name,
    )
    .replace(/`|\*\*/g, '')
    .replace(/\s+/g, ' ')
    .trim();
}
