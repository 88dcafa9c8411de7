import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { examinedReport } from '../../src/hosts/cli/commands/examine.ts';
import { readGiven } from '../../src/hosts/cli/input/read-given.ts';
import { NEWEST_KUBEEDGE } from '../../src/node/evidence/kubelet/edgecore-versions.ts';
import { NEWEST_KUBELET } from '../../src/node/evidence/kubelet/verified-version.ts';
import { faults } from '../../src/node/faults/index.ts';
import type { AnyFault } from '../../src/node/model/fault.ts';
import { FINDING_STATES, type FindingState } from '../../src/node/model/finding.ts';
import { CONDITION_REASONS } from '../../src/pipeline/api/reasons.ts';
import { fixturesFolder } from '../../test/fault-fixtures.ts';
import type { GoldenAnswer } from '../../test/golden-answer.ts';
import { declaredAs } from './doc-comments.ts';
import { code, tableOf } from './markdown.ts';

/** docs/reference/faults.md: every fault with what its manifest says. */
export async function faultsPage(): Promise<string> {
  const rows = await Promise.all(faults.map(faultRow));
  const head = ['fault', 'is', 'severity', 'states', 'affected versions', 'recovery', 'see'];
  return [
    '# Faults\n',
    'Each fault has a page with its symptom, its cause, how we know, what recovery does, and the manual\n' +
      'steps. On a node: `kubediag explain FAULT`.\n',
    `"And newer" was verified up to kubelet ${NEWEST_KUBELET.text} and ${NEWEST_KUBEEDGE.text}. A later version is\n` +
      'assumed to behave like the newest verified one. The finding stays, and its proof ends with\n' +
      `"last verified with ${NEWEST_KUBELET.text}".\n`,
    tableOf(head, rows),
    `## States\n\n${declaredAs('src/node/model/finding.ts', 'FindingState').comment}\n`,
  ].join('\n');
}

async function faultRow(fault: AnyFault): Promise<readonly string[]> {
  const { id, title, severity, stage, affected, references, recover } = fault;
  const seen = [...(await statesByReason(fault)).values()].flatMap((states) => [...states]);
  return [
    `[${id}](../../src/node/faults/${id}/README.md)`,
    title,
    stage === 'stable' ? severity : `${severity} (${stage})`,
    FINDING_STATES.filter((state) => seen.includes(state)).join(', '),
    affected.map((row) => `${row.component} ${row.versions}: ${row.behaviour}`).join('<br>'),
    recover ? 'yes' : 'no',
    references.map((reference) => `<${reference}>`).join('<br>'),
  ];
}

/** docs/reference/reasons.md: the reasons by which programs identify a finding. */
export async function reasonsPage(): Promise<string> {
  const rows = await Promise.all(faults.map(reasonRows));
  return [
    '# Reasons\n',
    'A finding has one reason, from the list of its fault: it is for programs, where the summary is\n' +
      'a sentence for people.\n',
    tableOf(['reason', 'fault', 'state', 'means'], rows.flat()),
    conditionsPart(),
  ].join('\n');
}

function conditionsPart(): string {
  const rows = Object.entries(CONDITION_REASONS).map(([reason, { type, message, means }]) => [
    code(reason),
    type,
    message,
    means,
  ]);
  return [
    '## Conditions of a Diagnosis\n',
    'They are in `status.conditions`, with status `True` unless stated otherwise. NAME stands for a name or a value.\n',
    tableOf(['reason', 'type', 'message', 'means'], rows),
  ].join('\n');
}

async function reasonRows(fault: AnyFault): Promise<readonly (readonly string[])[]> {
  const states = await statesByReason(fault);
  return Object.entries(fault.reasons).map(([reason, meaning]) => {
    const seen = states.get(reason);
    if (!seen) throw new Error(`no fixture of ${fault.id} shows the reason ${reason}`);
    const link = `[${fault.id}](../../src/node/faults/${fault.id}/README.md)`;
    return [code(reason), link, [...seen].join(', '), meaning];
  });
}

/** Which state comes with which reason: the golden answers show it, and tests hold them to the code. */
async function statesByReason(fault: AnyFault): Promise<ReadonlyMap<string, Set<FindingState>>> {
  const states = new Map<string, Set<FindingState>>();
  const golden = readFileSync(join(fixturesFolder(fault), 'golden.json'), 'utf8');
  const answers = Object.values(JSON.parse(golden) as Record<string, GoldenAnswer>);
  for (const { findings } of answers) addStates(states, findings);
  // Some reasons only occur with loose texts: on a node more would be known.
  for (const name of readdirSync(LOOSE_TEXTS)) {
    const given = await readGiven([join(LOOSE_TEXTS, name)]);
    const report = await examinedReport(given, 0);
    addStates(states, report.faults.find(({ name: id }) => id === fault.id)?.findings ?? []);
  }
  return states;
}

const LOOSE_TEXTS = 'test/loose-texts';

type Shown = Pick<GoldenAnswer['findings'][number], 'reason' | 'state'>;

function addStates(states: Map<string, Set<FindingState>>, findings: readonly Shown[]): void {
  for (const { reason, state } of findings) {
    states.set(reason, (states.get(reason) ?? new Set<FindingState>()).add(state));
  }
}
