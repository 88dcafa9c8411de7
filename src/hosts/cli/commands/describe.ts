import { fieldAt, listAt, textAt } from '../../../lib/std/json.ts';
import { printable } from '../../../lib/std/printable.ts';
import { EXIT, type Terminal } from '../../../lib/terminal/terminal.ts';
import { wrapText } from '../../../lib/terminal/wrap.ts';
import { ageText } from '../../../pipeline/api/columns.ts';
import { hasEnded } from '../../../pipeline/api/has-ended.ts';
import type { AgentClient } from '../agent-client/agent-client.ts';
import { connectAgent, isGranted } from '../agent-client/agent-error.ts';
import { LAST_APPLIED } from '../agent-client/apply-patch.ts';
import { namedOrSelected, selectedObjects } from '../agent-client/selected-objects.ts';
import { kindNamed, pathOf } from '../command-line/kind-named.ts';
import type { AgentOptions, SelectorOptions } from '../command-line/shared-options.ts';
import { labelLine, resultSection, sectionOf } from '../screens/described-lines.ts';
import { type DiagnosisSummary, diagnosisSummary } from '../screens/diagnosis-summary.ts';
import { yamlText } from '../screens/show-report.ts';

export async function describe(
  args: readonly string[],
  options: AgentOptions & SelectorOptions,
  terminal: Terminal,
): Promise<number> {
  const named = namedOrSelected(args, options, 'describe');
  const client = await connectAgent(options, terminal);
  if (!client) return EXIT.notDone;
  const targets = await selectedObjects(named, options, client, terminal);
  if (targets === undefined) return EXIT.notDone;
  if (targets.length === 0) terminal.err('No resources found.\n');
  let isComplete = true;
  let gap = '';
  for (const { kind, namespace, name } of targets) {
    const found = await client.ask('GET', pathOf(kind, namespace, name));
    if (!isGranted(found, terminal)) {
      isComplete = false;
      continue;
    }
    terminal.out(`${gap}${await descriptionOf(found.value, client, terminal.width)}`);
    gap = '\n\n';
  }
  return isComplete ? EXIT.clear : EXIT.notDone;
}

async function descriptionOf(value: unknown, client: AgentClient, width: number): Promise<string> {
  const isDiagnosis = textAt(value, 'kind') === 'Diagnosis';
  const summary: DiagnosisSummary = isDiagnosis
    ? diagnosisSummary(value, width, await waitsOf(value, client))
    : { lines: [], isMentioned: () => false };
  const lines = [
    ...summary.lines,
    // Without a result the summary shows the phase already.
    ...headLines(value).filter((line) => !summary.lines.includes(line)),
    ...(await specLines(value)),
    ...statusLines(value, width, summary),
  ];
  return `${lines.join('\n')}\n`;
}

function headLines(value: unknown): readonly string[] {
  const created = textAt(value, 'metadata', 'creationTimestamp') ?? '';
  const { [LAST_APPLIED]: _, ...annotations } = mapAt(value, 'metadata', 'annotations');
  return [
    labelLine('Name', textAt(value, 'metadata', 'name') ?? ''),
    labelLine('Namespace', textAt(value, 'metadata', 'namespace') ?? ''),
    labelLine('Kind', textAt(value, 'kind') ?? ''),
    labelLine('Labels', pairsOf(mapAt(value, 'metadata', 'labels'))),
    labelLine('Annotations', pairsOf(annotations)),
    labelLine('Created', `${created} (${ageText(created, new Date())} ago)`),
    labelLine('Phase', textAt(value, 'status', 'phase') ?? ''),
  ].filter((each) => each !== '');
}

function mapAt(value: unknown, ...path: readonly string[]): Readonly<Record<string, unknown>> {
  return (fieldAt(value, ...path) ?? {}) as Readonly<Record<string, unknown>>;
}

function pairsOf(pairs: Readonly<Record<string, unknown>>): string {
  return Object.entries(pairs)
    .map(([name, value]) => `${name}=${String(value)}`)
    .join(', ');
}

async function specLines(value: unknown): Promise<readonly string[]> {
  const text = await yamlText(fieldAt(value, 'spec'));
  return [
    'Spec:',
    ...text
      .trimEnd()
      .split('\n')
      .map((each) => `  ${printable(each)}`),
  ];
}

/** What the summary has not shown. */
function statusLines(
  value: unknown,
  width: number,
  { isMentioned }: DiagnosisSummary,
): readonly string[] {
  const more = fieldAt(value, 'status', 'stepsNotListed');
  const conditions = (listAt(value, 'status', 'conditions') ?? []).filter(
    (each) => !isMentioned(textAt(each, 'message') ?? ''),
  );
  return [
    ...sectionOf(
      'Conditions',
      conditions,
      (each, columns) => {
        const status = textAt(each, 'status') === 'True' ? '' : ' (no longer)';
        return wrapText(`${textAt(each, 'reason')}${status}: ${textAt(each, 'message')}`, columns);
      },
      width,
    ),
    ...sectionOf(
      'Steps',
      listAt(value, 'status', 'steps') ?? [],
      (each, columns) => {
        const why = textAt(each, 'message');
        const step = `${textAt(each, 'outcome')} ${textAt(each, 'operation')}`;
        return wrapText(why === undefined || isMentioned(why) ? step : `${step}: ${why}`, columns);
      },
      width,
      typeof more === 'number' ? more : 0,
    ),
    ...resultSection(value, width, isMentioned),
  ];
}

/** What a Diagnosis waits for, as far as that can be known. */
async function waitsOf(value: unknown, client: AgentClient): Promise<readonly string[]> {
  const phase = textAt(value, 'status', 'phase') ?? '';
  if (hasEnded(phase)) return [];
  const waits = [
    ...(fieldAt(value, 'spec', 'suspend') === true ? ['spec.suspend to be set to false'] : []),
    ...(await missingFor(value, client)),
  ];
  if (waits.length > 0 || phase === 'Running') return waits;
  return ['other Diagnoses that are running'];
}

/** The warnings of a dry run, which name the missing objects. */
async function missingFor(value: unknown, client: AgentClient): Promise<readonly string[]> {
  const namespace = textAt(value, 'metadata', 'namespace');
  const path = pathOf(kindNamed('Diagnosis'), namespace, textAt(value, 'metadata', 'name'));
  const answer = await client.ask('PATCH', `${path}?dryRun=All`, {
    body: {},
    type: 'application/merge-patch+json',
  });
  if ('failure' in answer) return [];
  // spec.parameters["a.b"]: no effect: no core file is made of a process
  return answer.warnings.filter((text) => !/^(spec|metadata)\b/.test(text));
}
