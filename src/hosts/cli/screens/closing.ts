import { counted } from '../../../lib/std/counted.ts';
import type { Style, Terminal } from '../../../lib/terminal/terminal.ts';
import { wrapText } from '../../../lib/terminal/wrap.ts';
import type { FaultReport, Report } from '../../../node/checkup/report.ts';
import { groupedAlike } from './alike-findings.ts';
import { excerpt } from './excerpt.ts';

/** Of a reason, unless everything is shown. */
const REASON_CHARACTERS_MAX = 300;

/** The part below the findings: what is unknown, notes, what is clear. */
export function closing({ faults, node }: Report, terminal: Terminal, isFull: boolean): string {
  const clear = faults.filter(({ verdict }) => verdict === 'clear').map(({ name }) => name);
  return [
    ...unknownLines(faults, terminal, isFull),
    ...(node.kubelet.notes ?? []).flatMap((note) => paragraph('note', note, terminal)),
    ...faults.flatMap((fault) => benignNotes(fault, terminal, isFull)),
    ...paragraph('clear', clear.join(', '), terminal, 'green'),
    ...paragraph('checked', checkedText(faults), terminal, 'dim'),
  ].join('\n');
}

const OTHERS = 'other faults were not checked';

/** A node with no known fault is not necessarily healthy: say what was checked. */
function checkedText(faults: readonly FaultReport[]): string {
  const { length } = faults;
  const named = length === 1 ? 'the fault' : `the ${length} faults`;
  const known = faults.filter(({ verdict }) => verdict !== 'unknown').length;
  if (length === 1 && known === 0) return `nothing; ${OTHERS}`;
  const some = known === length ? '' : `${known === 0 ? 'none' : known} of `;
  return `${some}${named} named above; ${OTHERS}`;
}

/** One line for all faults that are unknown for the same reason. */
function unknownLines(
  faults: readonly FaultReport[],
  terminal: Terminal,
  isFull: boolean,
): readonly string[] {
  const uncertain = faults.filter(({ reason }) => reason !== undefined);
  const alike = Map.groupBy(uncertain, ({ verdict, reason }) => JSON.stringify([verdict, reason]));
  return [...alike.values()].flatMap((all) => {
    const [first] = all;
    const label = first?.verdict === 'unknown' ? 'unknown' : 'also';
    const names = all.map(({ name }) => name).join(', ');
    const reason = first?.reason ?? '';
    const shown = isFull ? reason : excerpt(reason, REASON_CHARACTERS_MAX, '-v');
    return paragraph(label, `${names}: ${shown}`, terminal);
  });
}

function benignNotes(
  { name, findings, verdict }: FaultReport,
  terminal: Terminal,
  isFull: boolean,
): readonly string[] {
  if (isFull && verdict === 'found') return [];
  const benign = findings.filter(({ state }) => state === 'benign');
  const groups = isFull
    ? benign.map((finding) => [finding] as const)
    : groupedAlike(benign, ({ state, reason }) => ({ state, reason, isOurs: false }));
  return groups.flatMap(([first, ...rest]) => {
    const more =
      rest.length > 0 ? ` (and ${counted(rest.length, 'more finding')} like it: -v)` : '';
    return paragraph('note', `${name}: ${first.summary}${more}`, terminal);
  });
}

function paragraph(
  label: string,
  text: string,
  { width, style }: Terminal,
  tone: Style = 'yellow',
): readonly string[] {
  const COLUMNS = 9;
  return wrapText(text, width - COLUMNS).map((line, index) =>
    index === 0
      ? `${style(tone, label)}${' '.repeat(COLUMNS - label.length)}${line}`
      : ' '.repeat(COLUMNS) + line,
  );
}
