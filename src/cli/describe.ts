import { ageText } from '../api/columns.ts';
import { fieldAt, listAt, textAt } from '../std/json.ts';
import { printable } from '../std/printable.ts';
import { shellCommand } from '../std/shell-command.ts';
import { type AgentClient, type AgentOptions, agentClient } from './agent-client.ts';
import { LAST_APPLIED } from './apply-patch.ts';
import { EXIT } from './exit-codes.ts';
import { keptPath } from './kept-path.ts';
import { pathOf } from './kind-named.ts';
import { type MeantOptions, namedOrSelected, objectsMeant } from './objects-meant.ts';
import { actionLines, findingLines, plannedLines } from './recorded-lines.ts';
import { yamlText } from './show-report.ts';
import { isGranted, tellTrouble } from './tell-answer.ts';
import type { Terminal } from './terminal.ts';
import { waitsOf } from './waits-of.ts';
import { wrapWords } from './wrap.ts';

export interface DescribeOptions extends AgentOptions, MeantOptions {}

const LABEL_COLUMNS = 14;
/** What is longer than a few lines is read with `get -o yaml`. */
const RESULT_CHARACTERS_SHOWN = 160;
const LISTED_MAX = 100;

/** `kubediag describe TYPE [NAME...]`: all of each object, for a person. */
export async function describe(
  words: readonly string[],
  options: DescribeOptions,
  terminal: Terminal,
): Promise<number> {
  const named = namedOrSelected(words, options, 'describe');
  const client = await agentClient(options);
  if ('trouble' in client) {
    tellTrouble(client, terminal);
    return EXIT.notDone;
  }
  const targets = await objectsMeant(named, options, client, terminal);
  if (targets === undefined) return EXIT.notDone;
  if (targets.length === 0) terminal.err('No resources found.\n');
  let isWhole = true;
  let gap = '';
  for (const { kind, namespace, name } of targets) {
    const found = await client.ask('GET', pathOf(kind, namespace, name));
    if (!isGranted(found, terminal)) {
      isWhole = false;
      continue;
    }
    terminal.out(`${gap}${await descriptionOf(found.value, client, terminal.width)}`);
    gap = '\n\n';
  }
  return isWhole ? EXIT.clear : EXIT.notDone;
}

async function descriptionOf(value: unknown, client: AgentClient, width: number): Promise<string> {
  const waits = textAt(value, 'kind') === 'Diagnosis' ? await waitsOf(value, client) : [];
  const lines = [
    ...headLines(value),
    ...(await specLines(value)),
    ...sectionOf('Waits for', waits, wordsLines, width),
    ...statusLines(value, width),
  ];
  return `${lines.join('\n')}\n`;
}

function headLines(value: unknown): readonly string[] {
  const created = textAt(value, 'metadata', 'creationTimestamp') ?? '';
  const { [LAST_APPLIED]: _, ...annotations } = mapAt(value, 'metadata', 'annotations');
  return [
    line('Name', textAt(value, 'metadata', 'name') ?? ''),
    line('Namespace', textAt(value, 'metadata', 'namespace') ?? ''),
    line('Kind', textAt(value, 'kind') ?? ''),
    line('Labels', pairsOf(mapAt(value, 'metadata', 'labels'))),
    line('Annotations', pairsOf(annotations)),
    line('Created', `${created} (${ageText(created, new Date())} ago)`),
    line('Phase', textAt(value, 'status', 'phase') ?? ''),
    line('Current step', currentStep(value)),
  ].filter((each) => each !== '');
}

/** Whoever waits for a step sees which, and for how long. */
function currentStep(value: unknown): string {
  const operation = textAt(value, 'status', 'currentStep', 'operation');
  const since = textAt(value, 'status', 'currentStep', 'startTime');
  if (operation === undefined || since === undefined) return '';
  return `${operation}, since ${since} (${ageText(since, new Date())})`;
}

function line(label: string, text: string): string {
  return text === '' ? '' : `${`${label}:`.padEnd(LABEL_COLUMNS)}${printable(text)}`;
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

/** What a Diagnosis has behind it; of other kinds there is little to tell. */
function statusLines(value: unknown, width: number): readonly string[] {
  const part = (title: string, path: string, linesOf: LinesOf) => {
    const more = fieldAt(value, 'status', `${path}NotListed`);
    const items = listAt(value, 'status', path) ?? [];
    return sectionOf(title, items, linesOf, width, typeof more === 'number' ? more : 0);
  };
  const [name = '', namespace = ''] = ['name', 'namespace'].map((each) =>
    textAt(value, 'metadata', each),
  );
  const results = Object.entries(mapAt(value, 'status', 'operationResults')).map(
    ([key, text]) =>
      [key, String(text), shellCommand(['kubediag', 'fetch', name, key, '-n', namespace])] as const,
  );
  return [
    ...part('Conditions', 'conditions', (each, columns) => {
      const status = textAt(each, 'status') === 'True' ? '' : ' (no longer)';
      return wrapWords(`${textAt(each, 'reason')}${status}: ${textAt(each, 'message')}`, columns);
    }),
    ...part('Steps', 'steps', (each, columns) => {
      const why = textAt(each, 'message');
      const step = `${textAt(each, 'outcome')} ${textAt(each, 'operation')}`;
      return wrapWords(why === undefined ? step : `${step}: ${why}`, columns);
    }),
    ...part('Findings', 'findings', findingLines),
    ...part('Planned', 'plannedActions', plannedLines),
    ...part('Actions', 'actions', actionLines),
    ...sectionOf('Results', results, resultLines, width),
  ];
}

type LinesOf = (each: unknown, width: number) => readonly string[];

const wordsLines: LinesOf = (each, width) => wrapWords(String(each), width);

const resultLines: LinesOf = (each, width) => {
  const [key, text, command] = each as readonly [string, string, string];
  if (keptPath(text) === undefined) return wrapWords(`${key}: ${shortened(text)}`, width);
  // To be copied, it stands in one line.
  return [...wrapWords(`${key}: ${text}`, width), printable(command)];
};

function shortened(text: string): string {
  if (text.length <= RESULT_CHARACTERS_SHOWN) return text;
  return `${text.slice(0, RESULT_CHARACTERS_SHOWN)}... (${text.length} characters: get -o yaml)`;
}

function sectionOf(
  title: string,
  items: readonly unknown[],
  linesOf: LinesOf,
  width: number,
  notListed = 0,
): readonly string[] {
  if (items.length === 0) return [];
  const lines = items.slice(0, LISTED_MAX).flatMap((each) => {
    const [first = '', ...rest] = linesOf(each, width - 6);
    return [`  - ${first}`, ...rest.map((more) => `    ${more}`)];
  });
  const left = Math.max(items.length - LISTED_MAX, 0) + notListed;
  return [`${title}:`, ...lines, ...(left > 0 ? [`  and ${left} more`] : [])];
}
