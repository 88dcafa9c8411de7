import { existsSync } from 'node:fs';
import { type TriedDisk, tried } from '../../../lib/state/state-folder.ts';
import { jsonText } from '../../../lib/std/json.ts';
import { printable } from '../../../lib/std/printable.ts';
import { EXIT, type Terminal } from '../../../lib/terminal/terminal.ts';
import { explanationText } from '../../../lib/terminal/wrap.ts';
import {
  type JournalReading,
  type JournalRecord,
  readJournal,
} from '../../../node/repair/journal.ts';
import { diagnosisIn } from '../../../pipeline/diagnosis/purpose.ts';
import { recordedText } from '../../../pipeline/steps/action-text.ts';
import { stateFolderOf } from '../command-line/options.ts';
import { columnLines } from '../screens/column-lines.ts';
import { yamlText } from '../screens/show-report.ts';

export interface JournalOptions {
  readonly stateDir?: string;
  readonly hostRoot: string;
  readonly output?: 'wide' | 'json' | 'yaml';
}

export async function journal(options: JournalOptions, terminal: Terminal): Promise<number> {
  const folder = stateFolderOf(options);
  const reading = await journalIn(folder);
  if (!reading.ok) {
    const { why, todo } = reading;
    terminal.err(
      explanationText({ what: 'cannot read the journal', why, todo }, terminal.errWidth),
    );
    return EXIT.unknown;
  }
  const { records, unfinished, errors } = reading.value;
  for (const failure of errors) terminal.err(`${printable(failure)}\n`);
  const entries = entriesOf(records, unfinished);
  if (options.output === 'json') terminal.out(`${jsonText(entries, 2)}\n`);
  else if (options.output === 'yaml') terminal.out(await yamlText(entries));
  else if (entries.length > 0) terminal.out(tableOf(entries, options.output === 'wide'));
  else if (errors.length === 0) {
    // A mistyped --state-dir shows here.
    const where = existsSync(folder) ? folder : `${folder} does not exist`;
    terminal.out(`No actions on this node yet (${where}).\n`);
  }
  // Nothing is known of a journal without a readable line.
  return entries.length === 0 && errors.length > 0 ? EXIT.unknown : EXIT.clear;
}

/** The journal, or why it cannot be read. */
export function journalIn(folder: string): Promise<TriedDisk<JournalReading>> {
  return tried((async () => readJournal(folder))());
}

interface Entry {
  readonly entry: number;
  readonly begun: string;
  readonly ended?: string;
  readonly fault: string;
  readonly finding: string;
  /** The Diagnosis that asked for it; absent when a person did. */
  readonly diagnosis?: string;
  readonly action: JournalRecord['action'];
  readonly outcome: JournalRecord['outcome'] | { readonly state: 'unfinished' };
}

function entriesOf(
  records: readonly JournalRecord[],
  unfinished: readonly JournalRecord[],
): readonly Entry[] {
  const conclusions = new Map(
    records.filter(({ event }) => event === 'concluded').map((record) => [record.entry, record]),
  );
  return records
    .filter(({ event }) => event === 'intended')
    .map(({ entry, at, fault, finding, purpose, action }) => {
      const end = conclusions.get(entry);
      const isOpen = unfinished.some((record) => record.entry === entry);
      const outcome = isOpen || !end?.outcome ? { state: 'unfinished' as const } : end.outcome;
      return {
        entry,
        begun: at,
        ...(end ? { ended: end.at } : {}),
        fault,
        finding,
        ...(typeof purpose === 'string' ? { diagnosis: diagnosisIn(purpose) } : {}),
        action,
        outcome,
      };
    });
}

const HEADINGS = ['ENTRY', 'BEGUN', 'FINDING', 'ACTION', 'OUTCOME', 'DIAGNOSIS'];

function tableOf(entries: readonly Entry[], isWide: boolean): string {
  const rows = entries.map(({ entry, begun, fault, finding, diagnosis, action, outcome }) => [
    String(entry),
    begun.replace(/\.\d+Z$/, 'Z'),
    `${fault}/${finding}`,
    action.kind,
    outcome?.state ?? '',
    // As kubectl shows a missing value.
    diagnosis ?? '<none>',
    ...(isWide ? [recordedText(action)?.description ?? ''] : []),
  ]);
  const table = [[...HEADINGS, ...(isWide ? ['DESCRIPTION'] : [])], ...rows];
  return columnLines()(table.map((row) => row.map(printable)));
}
