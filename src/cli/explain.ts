import { faults } from '../faults/index.ts';
import type { AnyFault } from '../model/fault.ts';
import { EXIT } from './exit-codes.ts';
import { pageOf } from './pages.ts';
import { searchPages } from './search-pages.ts';
import type { Style, Terminal } from './terminal.ts';
import { wrapWords } from './wrap.ts';

/** `kubediag explain [FAULT|SYMPTOM]` */
export function explain(words: readonly string[], terminal: Terminal): number {
  const asked = words.join(' ').trim();
  if (asked === '') return listFaults(terminal);
  const fault = faults.find(({ id }) => id === asked);
  if (fault) {
    terminal.out(
      `${renderPage(pageOf(fault.id), terminal)}\n\n${manifestLines(fault, terminal)}\n`,
    );
    return EXIT.clear;
  }
  return listHits(asked, terminal);
}

function listFaults(terminal: Terminal): number {
  for (const { id, title } of faults) terminal.out(`${id}\n  ${title}\n`);
  terminal.out('\nMore: kubediag explain FAULT, or with an error text: kubediag explain "TEXT"\n');
  return EXIT.clear;
}

function listHits(symptom: string, terminal: Terminal): number {
  const hits = searchPages(
    symptom,
    faults.map(({ id, title }) => ({ id, title, text: pageOf(id) })),
  );
  for (const { id, title, line } of hits) {
    terminal.out(`${terminal.style('bold', id)}  ${title}\n`);
    for (const part of wrapWords(line, terminal.width - 4)) terminal.out(`    ${part}\n`);
    terminal.out(`  kubediag explain ${id}\n`);
  }
  if (hits.length > 0) return EXIT.clear;
  const known = faults.map(({ id }) => id).join(', ');
  terminal.err(
    `No page speaks of that. KubeDiag knows: ${known}.\n` +
      'Try fewer words, or the part of the error after the last colon.\n',
  );
  return EXIT.unknown;
}

/** A page is Markdown that also reads well as it is; a terminal only needs its lines filled. */
export function renderPage(page: string, { width, style }: Terminal): string {
  const blocks = page.trim().split(/\n{2,}/);
  return blocks.map((block) => renderBlock(block, width, style)).join('\n\n');
}

function renderBlock(
  block: string,
  width: number,
  style: (style: Style, text: string) => string,
): string {
  if (block.startsWith('#')) return style('bold', block.replace(/^#+ /, ''));
  // Code, tables and lists keep their lines.
  if (/^(```| {4}|\|)/.test(block)) {
    return block
      .replace(/^```\w*\n?/gm, '')
      .trimEnd()
      .split('\n')
      .map((line) => `  ${line}`)
      .join('\n');
  }
  if (/^([-*]|\d+\.) /.test(block)) return renderList(block, width);
  return wrapWords(unmarked(block), width).join('\n');
}

function renderList(block: string, width: number): string {
  const items = block.split(/\n(?=(?:[-*]|\d+\.) )/);
  return items
    .map((item) => {
      const [, mark = '-', text = item] = /^([-*]|\d+\.) ([\s\S]*)$/.exec(item) ?? [];
      const indent = ' '.repeat(mark.length + 1);
      return wrapWords(unmarked(text), width - indent.length)
        .map((line, index) => (index === 0 ? `${mark} ${line}` : indent + line))
        .join('\n');
    })
    .join('\n');
}

// [issue 68211](https://...) and `code` and **bold**
function unmarked(text: string): string {
  return text.replace(/\[([^\]]+)\]\(([^)]+)\)/g, '$1 ($2)').replace(/[`]|\*\*/g, '');
}

function manifestLines({ affected, references, severity }: AnyFault, { style }: Terminal): string {
  return [
    style('bold', 'Versions'),
    ...affected.map(
      ({ component, versions, behaviour }) => `  ${component} ${versions}\n    ${behaviour}`,
    ),
    `${style('bold', 'Severity')}  ${severity}`,
    ...references.map((reference) => `${style('bold', 'See')}  ${reference}`),
  ].join('\n');
}
