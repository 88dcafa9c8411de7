import { printable } from '../../../lib/std/printable.ts';
import type { FindingState, Subject } from '../../../node/model/finding.ts';
import { columnLines } from './column-lines.ts';

/** Two findings with the same likeness need only one explanation. */
interface Likeness {
  readonly state: FindingState;
  readonly reason: string;
  /** Whether KubeDiag can repair it. */
  readonly isOurs: boolean;
}

/** Groups similar findings of one fault, in the order of the first of each group. */
export function groupedAlike<T>(
  findings: readonly T[],
  likenessOf: (finding: T) => Likeness,
  /** Each in a group of its own, but in the same order: `recover --finding` takes a position. */
  isFull = false,
): readonly (readonly [T, ...T[]])[] {
  const groups = Map.groupBy(findings, (finding) => {
    const { state, reason, isOurs } = likenessOf(finding);
    return JSON.stringify([state, reason, isOurs]);
  });
  if (isFull) return [...groups.values()].flat().map((finding) => [finding]);
  return [...groups.values()].flatMap(([first, ...rest]) =>
    first === undefined ? [] : [[first, ...rest] as const],
  );
}

/** One line of the table of similar findings. */
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
    // In a single row every column is the same; only its state is also shown above the table.
    if (isSame && (left === 'state' || table.length > 1)) {
      columns = columns.filter(([, name]) => name !== left);
    }
  }
  return linesOf(table, columns);
}

function linesOf(table: readonly Row[], columns: readonly Column[]): readonly string[] {
  const rows = table.map((row) => columns.map(([, name]) => printable(row[name] ?? '')));
  const text = columnLines('  ')([columns.map(([heading]) => heading), ...rows]);
  return text.trimEnd().split('\n');
}

const COLUMNS = [
  ['FINDING', 'id'],
  ['STATE', 'state'],
  ['POD', 'pod'],
  ['CONTAINER', 'container'],
  ['VOLUME', 'volume'],
  ['PATH', 'path'],
] as const;

/** Columns that may be dropped, in this order. The pod always stays: it identifies the finding. */
const DISPENSABLE = ['state', 'container', 'volume', 'path'] as const;

type Column = (typeof COLUMNS)[number];
type Row = Readonly<Partial<Record<Column[1], string | undefined>>>;

/** What distinguishes one subject from another, without repeating another column. */
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

/** The part of a path below the pod's directory. */
function placeInPod(path: string, podUid: string | undefined): string {
  // /var/lib/kubelet/pods/29da79e5-386c-4e0d-82c1-215f93ff955d/volumes/kubernetes.io~nfs
  const [, inPod] = podUid ? path.split(`/pods/${podUid}/`) : [];
  return inPod?.replace(/^volumes\//, '') ?? path;
}
