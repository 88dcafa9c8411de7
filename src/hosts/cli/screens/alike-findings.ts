import { printable } from '../../../lib/std/printable.ts';
import type { FindingState, Subject } from '../../../node/model/finding.ts';

/** What makes two findings of one fault alike: who has read one of them knows the other. */
interface Likeness {
  readonly state: FindingState;
  readonly reason: string;
  /** Whether we can repair it. */
  readonly isOurs: boolean;
}

/** Findings of one fault, those alike together; the order of the first of each is kept. */
export function groupedAlike<T>(
  findings: readonly T[],
  likenessOf: (finding: T) => Likeness,
): readonly (readonly [T, ...T[]])[] {
  const groups = Map.groupBy(findings, (finding) => {
    const { state, reason, isOurs } = likenessOf(finding);
    return JSON.stringify([state, reason, isOurs]);
  });
  return [...groups.values()].flatMap(([first, ...rest]) =>
    first === undefined ? [] : [[first, ...rest] as const],
  );
}

/** One line of the table of findings that are like another one. */
export interface FindingRow {
  readonly id: string;
  readonly state: FindingState;
  readonly subject: Subject;
}

/**
 * "FINDING  STATE   POD ..." and a line for each; only columns with something in them, not wrapped.
 * While that is wider than the terminal, a column that says the same in every row is left out.
 */
export function findingTable(rows: readonly FindingRow[], width: number): readonly string[] {
  const table = rows.map(({ id, state, subject }) => ({ id, state, ...placesOf(subject) }));
  let columns = COLUMNS.filter(([, name]) => table.some((row) => row[name]));
  for (const left of DISPENSABLE) {
    if (linesOf(table, columns).every((line) => line.length <= width)) break;
    const isSame = table.every((row) => row[left] === table[0]?.[left]);
    // Of a single row every column says the same; only its state is told above the table, too.
    if (isSame && (left === 'state' || table.length > 1)) {
      columns = columns.filter(([, name]) => name !== left);
    }
  }
  return linesOf(table, columns);
}

function linesOf(table: readonly Row[], columns: readonly Column[]): readonly string[] {
  const lines = [
    columns.map(([heading]) => heading),
    ...table.map((row) => columns.map(([, name]) => printable(row[name] ?? ''))),
  ];
  const widths = columns.map((_, at) => Math.max(...lines.map((cells) => cells[at]?.length ?? 0)));
  return lines.map((cells) =>
    cells
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

const COLUMNS = [
  ['FINDING', 'id'],
  ['STATE', 'state'],
  ['POD', 'pod'],
  ['CONTAINER', 'container'],
  ['VOLUME', 'volume'],
  ['PATH', 'path'],
] as const;

/** In the order in which they are left out. Without its pod no finding is found again. */
const DISPENSABLE = ['state', 'container', 'volume', 'path'] as const;

type Column = (typeof COLUMNS)[number];
type Row = Readonly<Partial<Record<Column[1], string | undefined>>>;

/** What tells one subject from another, without what another column says already. */
function placesOf(subject: Subject) {
  const { namespace, pod, podUid, container, volume, mount, path } = subject;
  const place = volume === undefined ? (mount ?? path) : undefined;
  return {
    pod: pod === undefined ? podUid : [namespace, pod].filter(Boolean).join('/'),
    container,
    volume,
    path: place === undefined ? undefined : placeInPod(place, podUid),
  };
}

/** "default/web-0  container app  volume settings" */
export function subjectText(subject: Subject): string {
  const { pod, container, volume, path } = placesOf(subject);
  const parts = [
    subject.pod === undefined && pod ? `pod ${pod}` : pod,
    container && `container ${container}`,
    volume && `volume ${volume}`,
    path,
  ];
  return printable(parts.filter(Boolean).join('  '));
}

/** The part of a path that its pod does not tell already. */
function placeInPod(path: string, podUid: string | undefined): string {
  // /var/lib/kubelet/pods/29da79e5-386c-4e0d-82c1-215f93ff955d/volumes/kubernetes.io~nfs
  const [, inPod] = podUid ? path.split(`/pods/${podUid}/`) : [];
  return inPod?.replace(/^volumes\//, '') ?? path;
}

export function count(value: number, noun: string): string {
  return `${value} ${noun}${value === 1 ? '' : 's'}`;
}
