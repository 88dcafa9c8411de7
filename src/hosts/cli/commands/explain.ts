import { printable } from '../../../lib/std/printable.ts';
import { EXIT, type Terminal } from '../../../lib/terminal/terminal.ts';
import { wrapText } from '../../../lib/terminal/wrap.ts';
import { faults } from '../../../node/faults/index.ts';
import type { AnyFault } from '../../../node/model/fault.ts';
import { columnLines } from '../screens/column-lines.ts';
import { type Block, blocksOf, type ListItem } from '../screens/markdown-blocks.ts';
import { pageOf } from '../screens/pages.ts';
import { searchPages } from '../screens/search-pages.ts';

export function explain(args: readonly string[], terminal: Terminal): number {
  const asked = args.join(' ').trim();
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
  terminal.out(
    '\nExplain one: kubediag explain FAULT. Find one by an error message: kubediag explain "TEXT"\n',
  );
  return EXIT.clear;
}

function listHits(symptom: string, terminal: Terminal): number {
  const { out, err, style, width } = terminal;
  const hits = searchPages(
    symptom,
    faults.map(({ id, title }) => ({ id, title, text: pageOf(id) })),
  );
  if (hits.length === 0) {
    const known = faults.map(({ id }) => id).join(', ');
    err(
      `No fault matches "${printable(symptom)}". KubeDiag knows: ${known}.\n` +
        'Try fewer words, or the part of an error after its last colon. On the node: kubediag check\n',
    );
    return EXIT.unknown;
  }
  const blocks = hits.map(({ id, title, section, line }) => {
    const why = wrapText(section === '' ? line : `${section}: ${line}`, width - INDENT.length);
    return [
      style('bold', id),
      ...[...wrapText(title, width - INDENT.length), ...why].map((each) => `${INDENT}${each}`),
      `${INDENT}kubediag explain ${id}`,
    ];
  });
  out(`${blocks.map((lines) => lines.join('\n')).join('\n\n')}\n`);
  return EXIT.clear;
}

const INDENT = '  ';

/** A page for a terminal: without Markdown marks, and as wide as the terminal. */
function renderPage(page: string, terminal: Terminal): string {
  return blocksOf(page)
    .map((block) => renderBlock(block, terminal))
    .join('\n\n');
}

function renderBlock(block: Block, { width, style }: Terminal): string {
  switch (block.is) {
    case 'heading':
      return style('bold', block.text);
    case 'code':
      return block.lines.map((line) => `${INDENT}${line}`.trimEnd()).join('\n');
    case 'table':
      return columnLines()(block.rows).trimEnd();
    case 'list':
      return block.items.map((item) => renderItem(item, width)).join('\n');
    default:
      return wrapText(block.text, width).join('\n');
  }
}

function renderItem({ mark, text }: ListItem, width: number): string {
  const indent = ' '.repeat(mark.length + 1);
  return wrapText(text, width - indent.length)
    .map((line, index) => (index === 0 ? `${mark} ${line}` : indent + line))
    .join('\n');
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
