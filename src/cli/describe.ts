import { ageText } from '../api/columns.ts';
import { fieldAt, listAt, textAt } from '../std/json.ts';
import { printable } from '../std/printable.ts';
import { type AgentOptions, agentClient } from './agent-client.ts';
import { LAST_APPLIED } from './apply-patch.ts';
import { EXIT } from './exit-codes.ts';
import { kindNamed, pathOf } from './kind-named.ts';
import { yamlText } from './show-report.ts';
import { isGranted, tellTrouble } from './tell-answer.ts';
import type { Terminal } from './terminal.ts';
import { waitsOf } from './waits-of.ts';
import { wrapWords } from './wrap.ts';

export interface DescribeOptions extends AgentOptions {
  readonly namespace: string;
}

const LABEL_COLUMNS = 14;
/** What is longer than a few lines is read with `get -o yaml`. */
const RESULT_CHARACTERS_SHOWN = 160;
const LISTED_MAX = 100;

/** `kubediag describe KIND NAME`: all of one object, for a person. */
export async function describe(
  [word = '', name = '']: readonly string[],
  options: DescribeOptions,
  terminal: Terminal,
): Promise<number> {
  const kind = kindNamed(word);
  const client = await agentClient(options);
  if ('trouble' in client) {
    tellTrouble(client, terminal);
    return EXIT.notDone;
  }
  const found = await client.ask('GET', pathOf(kind, options.namespace, name));
  if (!isGranted(found, terminal)) return EXIT.notDone;
  const waits = kind.kind === 'Diagnosis' ? await waitsOf(found.value, client) : [];
  const lines = [
    ...headLines(found.value),
    ...(await specLines(found.value)),
    ...sectionOf('Waits for', waits, String, terminal.width),
    ...statusLines(found.value, terminal.width),
  ];
  terminal.out(`${lines.join('\n')}\n`);
  return EXIT.clear;
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
  ].filter((each) => each !== '');
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
  const part = (title: string, path: string, wordsOf: (each: unknown) => string) =>
    sectionOf(title, listAt(value, 'status', path) ?? [], wordsOf, width);
  const results = Object.entries(mapAt(value, 'status', 'operationResults'));
  return [
    ...part('Conditions', 'conditions', (each) => {
      const status = textAt(each, 'status') === 'True' ? '' : ' (no longer)';
      return `${textAt(each, 'reason')}${status}: ${textAt(each, 'message')}`;
    }),
    ...part('Steps', 'steps', (each) => {
      const why = textAt(each, 'message');
      const step = `${textAt(each, 'outcome')} ${textAt(each, 'operation')}`;
      return why === undefined ? step : `${step}: ${why}`;
    }),
    ...part('Findings', 'findings', (each) => {
      return `${textAt(each, 'fault')} ${textAt(each, 'id')} (${textAt(each, 'state')}): ${textAt(each, 'summary')}`;
    }),
    ...part('Planned', 'plannedActions', (each) => {
      return `${textAt(each, 'kind')}: ${textAt(each, 'summary') ?? 'see the findings'}`;
    }),
    ...part('Actions', 'actions', (each) => {
      const why = textAt(each, 'why');
      return `${textAt(each, 'kind')} ${textAt(each, 'state')}${why === undefined ? '' : `: ${why}`}`;
    }),
    ...sectionOf(
      'Results',
      results,
      (each) => {
        const [key, text] = each as readonly [string, unknown];
        return `${key}: ${shortened(String(text))}`;
      },
      width,
    ),
  ];
}

function shortened(text: string): string {
  if (text.length <= RESULT_CHARACTERS_SHOWN) return text;
  return `${text.slice(0, RESULT_CHARACTERS_SHOWN)}... (${text.length} characters: get -o yaml)`;
}

function sectionOf(
  title: string,
  items: readonly unknown[],
  wordsOf: (each: unknown) => string,
  width: number,
): readonly string[] {
  if (items.length === 0) return [];
  const lines = items.slice(0, LISTED_MAX).flatMap((each) => {
    const [first = '', ...rest] = wrapWords(wordsOf(each), width - 6);
    return [`  - ${first}`, ...rest.map((more) => `    ${more}`)];
  });
  const left = items.length - LISTED_MAX;
  return [`${title}:`, ...lines, ...(left > 0 ? [`  and ${left} more`] : [])];
}
