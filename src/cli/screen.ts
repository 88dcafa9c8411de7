import type { FaultReport, FindingReport, NodeSummary, Report } from '../checkup/report.ts';
import { FINDING_STATES } from '../model/finding.ts';
import { printable } from '../std/printable.ts';
import { fileLines, missingLines } from './examined-lines.ts';
import type { Terminal } from './terminal.ts';
import { wrapQuote, wrapWords } from './wrap.ts';

const INDENT = '  ';
const LABEL_COLUMNS = 8;
const QUOTE_COLUMNS = 10;
const QUOTE_CHARACTERS_MAX = 2_000;
/** More than anybody reads; programs get them all. */
const FINDINGS_SHOWN_MAX = 20;
const FIRST_SHOWN_MAX = 3;

/** The report as a person reads it: the node in one line, the worst first, then what is well. */
export function screenOf(report: Report, terminal: Terminal, isWide: boolean): string {
  const shown = report.faults
    .filter(({ verdict }) => verdict === 'found')
    .flatMap((fault) => fault.findings.map((finding) => ({ fault, finding })))
    .filter(({ finding }) => isWide || finding.state !== 'benign')
    .toSorted((left, right) => rankOf(left.finding) - rankOf(right.finding));
  const left = shown.length - FINDINGS_SHOWN_MAX;
  const { examined } = report;
  const parts = [
    ...(examined ? [fileLines(examined, terminal)] : [nodeLine(report.node, terminal)]),
    ...(isWide && !examined ? [nodeDetails(report.node)] : []),
    ...shown
      .slice(0, FINDINGS_SHOWN_MAX)
      .map(({ fault, finding }) => findingBlock(fault, finding, terminal, isWide)),
    ...(left > 0
      ? [`and ${count(left, 'more finding')}; all of them: kubediag check -o json`]
      : []),
    closing(report, terminal, isWide),
    ...(examined ? [missingLines(examined, terminal)] : []),
  ];
  return `${parts.filter(Boolean).join('\n\n')}\n`;
}

function rankOf({ state }: FindingReport): number {
  return FINDING_STATES.indexOf(state);
}

function nodeLine(node: NodeSummary, { width, style }: Terminal): string {
  const { kubelet, runtime, pods, mounts } = node;
  const name = printable(node.name);
  const facts = [
    kubeletWords(kubelet),
    runtime ? `${runtime.name} ${runtime.version}` : undefined,
    pods === undefined ? undefined : count(pods, 'pod'),
    mounts === undefined ? undefined : count(mounts, 'mount'),
  ]
    .filter((fact) => fact !== undefined)
    .map(printable);
  const left = [name, ...facts].join('  ');
  const right = `${(node.tookMs / 1000).toFixed(1)} s`;
  const gap = ' '.repeat(Math.max(2, width - left.length - right.length));
  return [style('bold', name), ...facts].join('  ') + gap + right;
}

function kubeletWords({ presence, program, version }: NodeSummary['kubelet']): string {
  if (presence === 'absent') return 'no kubelet';
  if (presence === 'unknown') return 'kubelet unknown';
  const words = [program ?? 'kubelet', version ?? 'of unknown version'].join(' ');
  return presence === 'stopped' ? `${words} (stopped)` : words;
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

function findingBlock(
  fault: FaultReport,
  finding: FindingReport,
  terminal: Terminal,
  isWide: boolean,
): string {
  const { width, style } = terminal;
  const left = `${finding.state.toUpperCase()}  ${fault.name}`;
  const right = `finding ${finding.id}`;
  const gap = ' '.repeat(Math.max(2, width - left.length - right.length));
  const tone = finding.state === 'benign' ? 'green' : finding.state === 'latent' ? 'yellow' : 'red';
  const state = style(tone, style('bold', finding.state.toUpperCase()));
  const lines = [
    `${state}  ${style('bold', fault.name)}${gap}${right}`,
    ...wrapWords(finding.summary, width - INDENT.length).map((line) => INDENT + line),
    '',
    ...labelled(
      'why',
      finding.proof.flatMap((proof) => proofLines(proof, terminal)),
    ),
    ...labelled('not', sentences(finding.excluded, width)),
    ...(isWide ? labelled('scope', sentences([finding.blastRadius], width)) : []),
    ...labelled('first', whatComesFirst(finding, width)),
    ...labelled('hands', sentences(finding.refusal ? [`off: ${finding.refusal}`] : [], width)),
    ...labelled('do', whatToDo(fault, finding)),
    ...labelled('avoid', sentences(finding.prevention ?? [], width)),
  ];
  return lines.join('\n');
}

/** The repairs that must come before this one; the list of a whole pile helps nobody. */
function whatComesFirst({ waitsFor = [] }: FindingReport, width: number): readonly string[] {
  const left = waitsFor.length - FIRST_SHOWN_MAX;
  return [
    ...waitsFor
      .slice(0, FIRST_SHOWN_MAX)
      .flatMap(({ fault, finding, why }) => [
        `kubediag recover ${fault} --finding ${finding}`,
        ...sentences([`for ${why}`], width),
      ]),
    ...(left > 0 ? [`and ${count(left, 'more finding')}: -o json`] : []),
  ];
}

/** A command is never wrapped or shortened: it is there to be copied. */
function whatToDo(fault: FaultReport, finding: FindingReport): readonly string[] {
  if (finding.state === 'benign') return ['nothing'];
  const recover = `kubediag recover ${fault.name} --finding ${finding.id}`;
  const ours = finding.actions.length > 0 ? [recover] : [];
  const others = finding.otherCures
    .map(printable)
    .map((cure) => (ours.length > 0 ? `or: ${cure}` : cure));
  return [
    ...ours,
    ...others,
    ...(finding.actions.length > 0 ? [] : [`kubediag explain ${fault.name}`]),
  ];
}

function proofLines(proof: FindingReport['proof'][number], { width, style }: Terminal): string[] {
  const columns = width - LABEL_COLUMNS;
  const claim = printable(proof.claim);
  const origin = printable(proof.origin);
  const fits = claim.length + 2 + origin.length <= columns;
  const gap = ' '.repeat(Math.max(2, columns - claim.length - origin.length));
  const head = fits
    ? [`${claim}${gap}${style('dim', origin)}`]
    : [...wrapWords(claim, columns), ...originLines(origin, columns, style)];
  const quote = wrapQuote(excerpt(proof.text ?? ''), width - QUOTE_COLUMNS);
  return [...head, ...quote.map((line) => INDENT + line)];
}

function originLines(origin: string, columns: number, style: Terminal['style']) {
  const lines = wrapQuote(`from ${origin}`, columns - INDENT.length);
  return lines.map((line) => INDENT + style('dim', line));
}

/** The beginning and the end of a text that would fill the screen: what matters is in one of them. */
function excerpt(text: string): string {
  if (text.length <= QUOTE_CHARACTERS_MAX) return text;
  const half = QUOTE_CHARACTERS_MAX / 2;
  const left = text.length - QUOTE_CHARACTERS_MAX;
  return `${text.slice(0, half)} [${left} characters left out: -o json] ${text.slice(-half)}`;
}

function labelled(label: string, lines: readonly string[]): readonly string[] {
  return lines.map((line, index) => `${INDENT}${(index === 0 ? label : '').padEnd(6)}${line}`);
}

function sentences(texts: readonly string[], width: number): readonly string[] {
  return texts.flatMap((text) => wrapWords(text, width - LABEL_COLUMNS));
}

function closing({ faults, node }: Report, terminal: Terminal, isWide: boolean): string {
  const { width, style } = terminal;
  const clear = faults.filter(({ verdict }) => verdict === 'clear').map(({ name }) => name);
  const listed = wrapWords(clear.join('  '), width - 9);
  const lines = listed.map(
    (line, index) =>
      `${index === 0 ? style('green', 'clear') : ' '.repeat('clear'.length)}    ${line}`,
  );
  const notes = [
    ...(node.kubelet.notes ?? []).flatMap((note) => paragraph('note', note, terminal)),
    ...faults.flatMap((fault) => benignNotes(fault, terminal, isWide)),
  ];
  const doubts = faults.flatMap((fault) => doubtLines(fault, terminal));
  return [...lines, ...notes, ...doubts].join('\n');
}

function benignNotes(
  { name, findings, verdict }: FaultReport,
  terminal: Terminal,
  isWide: boolean,
) {
  if (isWide && verdict === 'found') return [];
  const benign = findings.filter(({ state }) => state === 'benign');
  return benign.flatMap(({ summary }) => paragraph('note', `${name}: ${summary}`, terminal));
}

function doubtLines({ name, verdict, reason }: FaultReport, terminal: Terminal) {
  if (!reason) return [];
  const label = verdict === 'unknown' ? 'unknown' : 'also';
  return paragraph(label, `${name}: ${reason}`, terminal);
}

function paragraph(label: string, text: string, { width, style }: Terminal): readonly string[] {
  const COLUMNS = 9;
  return wrapWords(text, width - COLUMNS).map((line, index) =>
    index === 0
      ? `${style('yellow', label)}${' '.repeat(COLUMNS - label.length)}${line}`
      : ' '.repeat(COLUMNS) + line,
  );
}

function count(value: number, noun: string): string {
  return `${value} ${noun}${value === 1 ? '' : 's'}`;
}
