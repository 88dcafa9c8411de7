import { counted } from '../../../lib/std/counted.ts';
import { printable } from '../../../lib/std/printable.ts';
import type { Terminal } from '../../../lib/terminal/terminal.ts';
import { gapBetween, labelled, wrapQuote, wrapText } from '../../../lib/terminal/wrap.ts';
import type { FaultReport, FindingReport, NodeSummary } from '../../../node/checkup/report.ts';
import { FINDING_STATES } from '../../../node/model/finding.ts';
import { adviceLines } from './advice-lines.ts';
import { findingTable, groupedAlike } from './alike-findings.ts';
import { closing } from './closing.ts';
import { fileLines, missingLines } from './examined-lines.ts';
import { excerpt } from './excerpt.ts';
import { headlineOf, type ShownReport } from './headline.ts';

const INDENT = '  ';
const LABEL_COLUMNS = 8;
const QUOTE_COLUMNS = 10;
const QUOTE_CHARACTERS_MAX = 600;
const FULL_QUOTE_CHARACTERS_MAX = 2_000;
/** Lines of the table of similar findings; -v and programs get all. */
const ROWS_SHOWN_MAX = 10;
const FIRST_SHOWN_MAX = 3;

/** How much of a finding is shown. What is left out says how to see it. */
interface Detail {
  readonly isFull: boolean;
  readonly proofsMax: number;
  readonly hasPrevention: boolean;
}

const FULL: Detail = { isFull: true, proofsMax: Number.POSITIVE_INFINITY, hasPrevention: true };
/** A screen of about fifty lines. */
const ALONE: Detail = { isFull: false, proofsMax: 8, hasPrevention: true };
const AMONG_OTHERS: Detail = { isFull: false, proofsMax: 4, hasPrevention: false };

interface Shown {
  readonly fault: FaultReport;
  readonly finding: FindingReport;
}

/**
 * The report for a person: the result in the first line, then the node, the findings with the worst
 * first, and last what is clear. One of several similar findings is shown in full, unless all are wanted.
 */
export function screenOf(report: ShownReport, terminal: Terminal, isFull: boolean): string {
  const shown = report.faults
    .filter(({ verdict }) => verdict === 'found')
    .flatMap((fault) => fault.findings.map((finding) => ({ fault, finding })))
    .filter(({ finding }) => isFull || finding.state !== 'benign')
    .toSorted((left, right) => rankOf(left.finding) - rankOf(right.finding));
  const groups = groupedAlike(shown, likenessOf, isFull);
  const detail = isFull ? FULL : groups.length === 1 ? ALONE : AMONG_OTHERS;
  const { examined } = report;
  const { text, tone } = headlineOf(report);
  const headline = wrapText(text, terminal.width)
    .map((line) => terminal.style(tone, terminal.style('bold', line)))
    .join('\n');
  const about = examined ? fileLines(examined, terminal) : nodeLine(report.node, terminal);
  const parts = [
    `${headline}\n${about}`,
    ...(isFull && !examined ? [nodeDetails(report.node)] : []),
    ...groups.map((group) => groupBlock(group, terminal, detail)),
    closing(report, terminal, isFull),
    ...(examined ? [missingLines(examined, terminal)] : []),
  ];
  return `${parts.filter(Boolean).join('\n\n')}\n`;
}

function likenessOf({ fault, finding: { state, reason, actions } }: Shown) {
  // Two faults may use the same reason.
  return { state, reason: `${fault.name} ${reason}`, isOurs: actions.length > 0 };
}

function groupBlock(
  [first, ...rest]: readonly [Shown, ...Shown[]],
  terminal: Terminal,
  detail: Detail,
): string {
  const block = findingBlock(first, terminal, detail);
  if (rest.length === 0) return block;
  const { fault, finding } = first;
  const rows = rest
    .slice(0, ROWS_SHOWN_MAX)
    .map(({ finding: { id, state, subject } }) => ({ id, state, subject }));
  const left = rest.length - rows.length;
  const more = left > 0 ? `and ${left} more; ` : '';
  return [
    block,
    '',
    `${INDENT}${counted(rest.length, 'more finding')} like it:`,
    ...findingTable(rows, terminal.width - 2 * INDENT.length).map((line) => INDENT + INDENT + line),
    `${INDENT}${INDENT}${more}-v shows each in full`,
    ...(finding.actions.length > 0
      ? labelled('do', [`kubediag recover ${fault.name}   # all of them; asks first`])
      : []),
  ].join('\n');
}

function rankOf({ state }: FindingReport): number {
  return FINDING_STATES.indexOf(state);
}

function nodeLine(node: NodeSummary, { width, style }: Terminal): string {
  const { kubelet, runtime, pods, mounts } = node;
  const name = printable(node.name);
  const facts = [
    kubeletText(kubelet),
    runtime ? `${runtime.name} ${runtime.version}` : undefined,
    pods === undefined ? undefined : counted(pods, 'pod'),
    mounts === undefined ? undefined : counted(mounts, 'mount'),
  ]
    .filter((fact) => fact !== undefined)
    .map(printable);
  const left = [name, ...facts].join('  ');
  const right = `${(node.tookMs / 1000).toFixed(1)} s`;
  return [style('bold', name), ...facts].join('  ') + gapBetween(left, right, width) + right;
}

function kubeletText({ presence, program, version }: NodeSummary['kubelet']): string {
  if (presence === 'absent') return 'no kubelet';
  if (presence === 'unknown') return 'kubelet unknown';
  const text = [program ?? 'kubelet', version ?? 'of unknown version'].join(' ');
  return presence === 'stopped' ? `${text} (stopped)` : text;
}

function nodeDetails({ kubelet, runtime, time }: NodeSummary): string {
  const lines = [
    ['time', time],
    ['kubelet', [kubelet.presence, kubelet.pid ? `pid ${kubelet.pid}` : '', kubelet.root ?? '']],
    ['runtime', runtime ? [`CRI ${runtime.criVersion}`, runtime.socket] : 'unknown'],
  ] as const;
  return lines
    .map(
      ([name, value]) => `${INDENT}${name.padEnd(9)}${[value].flat().filter(Boolean).join('  ')}`,
    )
    .join('\n');
}

function findingBlock({ fault, finding }: Shown, terminal: Terminal, detail: Detail): string {
  const { width, style } = terminal;
  const left = `${finding.state.toUpperCase()}  ${fault.name}`;
  const right = `finding ${finding.id}`;
  const gap = gapBetween(left, right, width);
  const tone = finding.state === 'benign' ? 'green' : finding.state === 'latent' ? 'yellow' : 'red';
  const state = style(tone, style('bold', finding.state.toUpperCase()));
  const lines = [
    `${state}  ${style('bold', fault.name)}${gap}${right}`,
    ...wrapText(finding.summary, width - INDENT.length).map((line) => INDENT + line),
    '',
    ...labelled('why', proofsLines(finding.proof, terminal, detail)),
    ...labelled('not', sentences(finding.excluded, width)),
    ...(detail.isFull ? labelled('scope', sentences([finding.blastRadius], width)) : []),
    ...labelled('first', whatComesFirst(finding, width)),
    ...labelled('do', [...refusalLines(finding, width), ...whatToDo(fault, finding, width)]),
    ...(detail.hasPrevention ? labelled('avoid', sentences(finding.prevention ?? [], width)) : []),
  ];
  return lines.join('\n');
}

function refusalLines({ refusal }: FindingReport, width: number): readonly string[] {
  return sentences(refusal ? [`no automatic repair: ${refusal}`] : [], width);
}

/** The first few of the repairs that must come before this one. */
function whatComesFirst({ waitsFor = [] }: FindingReport, width: number): readonly string[] {
  const left = waitsFor.length - FIRST_SHOWN_MAX;
  return [
    ...waitsFor
      .slice(0, FIRST_SHOWN_MAX)
      .flatMap(({ fault, finding, why }) => [
        `kubediag recover ${fault} --finding ${finding}`,
        ...sentences([`for ${why}`], width),
      ]),
    ...(left > 0 ? [`and ${counted(left, 'more finding')}: -o json`] : []),
  ];
}

function whatToDo(fault: FaultReport, finding: FindingReport, width: number): readonly string[] {
  if (finding.state === 'benign') return ['nothing'];
  const recover = `kubediag recover ${fault.name} --finding ${finding.id}`;
  const ours = finding.actions.length > 0 ? [recover] : [];
  return [
    ...ours,
    ...adviceLines(finding.alternatives, width - LABEL_COLUMNS, ours.length > 0),
    ...(finding.actions.length > 0 ? [] : [`kubediag explain ${fault.name}`]),
  ];
}

type Proofs = FindingReport['proof'];

function proofsLines(proofs: Proofs, terminal: Terminal, detail: Detail): readonly string[] {
  const shown = proofs.slice(0, detail.proofsMax);
  const left = proofs.length - shown.length;
  return [
    ...shown.flatMap((proof, at) => {
      // The origin is the same as above.
      const isRepeated = !detail.isFull && shown[at - 1]?.origin === proof.origin;
      const head = isRepeated
        ? wrapText(proof.claim, terminal.width - LABEL_COLUMNS)
        : claimLines(proof, terminal);
      return [...head, ...quoteLines(proof, terminal, detail.isFull)];
    }),
    ...(left > 0 ? [`and ${counted(left, 'more reason')}: -v`] : []),
  ];
}

/** The claim of a proof and its origin, at the end of the line or below it. */
function claimLines(proof: Proofs[number], { width, style }: Terminal): readonly string[] {
  const columns = width - LABEL_COLUMNS;
  const claim = printable(proof.claim);
  const origin = printable(proof.origin);
  const fits = Number.isFinite(columns) && claim.length + 2 + origin.length <= columns;
  if (fits) return [`${claim}${gapBetween(claim, origin, columns)}${style('dim', origin)}`];
  return [...wrapText(claim, columns), ...originLines(origin, columns, style)];
}

function quoteLines({ text = '' }: Proofs[number], { width }: Terminal, isFull: boolean) {
  const shown = isFull
    ? excerpt(text, FULL_QUOTE_CHARACTERS_MAX, '-o json')
    : excerpt(text, QUOTE_CHARACTERS_MAX, '-v');
  return wrapQuote(shown, width - QUOTE_COLUMNS).map((line) => INDENT + line);
}

function originLines(origin: string, columns: number, style: Terminal['style']) {
  const [first = '', ...rest] = wrapQuote(origin, columns - INDENT.length - 'from '.length);
  return [`from ${first}`, ...rest].map((line) => INDENT + style('dim', line));
}

function sentences(texts: readonly string[], width: number): readonly string[] {
  return texts.flatMap((text) => wrapText(text, width - LABEL_COLUMNS));
}
