import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { filesOfBundle, manifestOf } from '../../src/node/recording/bundle.ts';
import { fixtureAt } from '../fault-fixtures.ts';
import { EXECUTABLE, runProgram } from '../rig/run-kubediag.ts';
import { syntheticAgent } from '../synthetic-agent.ts';

const FILES = await filesOfBundle(await fixtureAt('stale-subpath-mount/broken-configmap'));
const scratch = mkdtempSync(join(tmpdir(), 'kubediag-hostile-'));
afterAll(() => rmSync(scratch, { recursive: true }));

/** CSI in one character, text from right to left, a line separator, an invisible tag, and green. */
const HOSTILE = '\u009b31m\u202e\u2028\u{e0041}\u001b[32mspoof';
/** Sets the title of a terminal. */
const TITLE = '\u001b]0;x\u0007';

// Control, format and separator characters, but for those between lines and those of our colours.
// The same colour in front of the hostile word is not ours.
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is what a terminal gets.
const STYLES = /\x1b\[(?:1|2|22|31|32|33|39)m(?!spoof)|\x1b\[K|\r/g;
const ACTIVE = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

function activeIn(text: string): readonly string[] {
  const found = text.replaceAll(STYLES, '').match(ACTIVE) ?? [];
  return found.map((character) => `U+${character.codePointAt(0)?.toString(16)}`);
}

/** As it stands between the quotes of a JSON text. */
const inJson = (text: string) => JSON.stringify(text).slice(1, -1);

const quoted = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`;

/** Commands one after another, on a terminal of their own or into a pipe. */
async function run(commands: readonly (readonly string[])[], where: 'terminal' | 'pipe') {
  const script = commands
    .map((args) => `${[EXECUTABLE, ...args].map(quoted).join(' ')}; echo "code $?"`)
    .join('\n');
  const shell = ['sh', '-c', script];
  const args =
    where === 'pipe'
      ? shell
      : ['script', '--quiet', '--command', shell.map(quoted).join(' '), '/dev/null'];
  const { stdout, stderr } = await runProgram(args, { environment: { TERM: 'xterm' } });
  const codes = [...stdout.matchAll(/code (\d+)\r?$/gm)].map(([, code]) => Number(code));
  return { text: stdout + stderr, stdout, codes };
}

/** A node whose pod and whose files have such names. */
async function hostileBundle(): Promise<string> {
  const folder = join(scratch, 'bundle');
  mkdirSync(folder);
  const files = new Map(FILES);
  const answers = new TextDecoder()
    .decode(files.get('answers.jsonl'))
    .replaceAll('web-0', inJson(`web-0${HOSTILE}`))
    .replaceAll('app.conf', inJson(`app${HOSTILE}${TITLE}.conf`));
  files.set('answers.jsonl', Buffer.from(answers));
  const clock = new Date('2026-01-02T03:04:05Z');
  const manifest = { recording: { clock }, madeBy: 'synthetic', tookMs: 12, settings: {} };
  files.set('manifest.json', await manifestOf(manifest, files));
  for (const [name, content] of files) writeFileSync(join(folder, name), content);
  return folder;
}

test('names that a pod chose act on no terminal, whatever shows them', async () => {
  const bundle = await hostileBundle();
  const loose = join(scratch, `text${HOSTILE}.txt`);
  writeFileSync(loose, readFileSync(join(bundle, 'answers.jsonl')));
  const manifest = join(scratch, 'manifest.json');
  const metadata = { name: `x${HOSTILE}${TITLE}` };
  writeFileSync(manifest, JSON.stringify({ kind: `Operation${HOSTILE}`, metadata }));
  const shown = await run(
    [
      ...[[], ['-o', 'wide'], ['-o', 'json'], ['-o', 'yaml'], ['-o', 'name']].map((format) => [
        ...['replay', bundle, 'stale-subpath-mount'],
        ...format,
      ]),
      ['examine', loose],
      ['lint', '-f', manifest],
      ['lint', '-f', manifest, '-o', 'json'],
      ['lint', '-f', join(scratch, `none${HOSTILE}`)],
    ],
    'terminal',
  );
  expect(shown.codes).toEqual([1, 1, 1, 1, 1, 2, 1, 1, 64]);
  expect(shown.text).toContain('\\u009b31m\\u202e');
  expect(activeIn(shown.text)).toEqual([]);
}, 60_000);

test('JSON and YAML in a pipe mean the same as ever, and hold none either', async () => {
  const bundle = join(scratch, 'bundle');
  const json = await run([['replay', bundle, 'stale-subpath-mount', '-o', 'json']], 'pipe');
  expect(activeIn(json.text)).toEqual([]);
  const report: unknown = JSON.parse(json.stdout.replace(/code 1\n$/, ''));
  expect(JSON.stringify(report)).toContain(inJson(`web-0${HOSTILE}`));
  const yaml = await run([['replay', bundle, 'stale-subpath-mount', '-o', 'yaml']], 'pipe');
  expect(activeIn(yaml.text)).toEqual([]);
}, 60_000);

test('what a step has printed reaches a pipe as it is, and a terminal as text', async () => {
  const { stateDir } = await syntheticAgent();
  const output = `one${HOSTILE}${TITLE}`;
  const script = `printf '%s' '${output}'`;
  const object = (kind: string, spec: object) => ({
    apiVersion: 'diagnosis.kubediag.org/v1',
    kind,
    metadata: { name: 'one', annotations: { note: output } },
    spec,
  });
  const items = [
    object('Operation', { processor: { scriptRunner: { script, operationResultKey: 'one' } } }),
    object('OperationSet', { adjacencyList: [{ to: [1] }, { operation: 'one' }] }),
    object('Diagnosis', { operationSet: 'one', nodeName: 'my-node' }),
  ];
  const file = join(scratch, 'all.json');
  writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  const state = ['--state-dir', stateDir];
  const fetch = ['fetch', 'one', 'operation.one.output', ...state];
  expect((await run([['apply', '-f', file, ...state]], 'pipe')).codes).toEqual([0]);
  await expect
    .poll(async () => (await run([fetch], 'pipe')).stdout, { timeout: 20_000 })
    .toBe(`${output}\ncode 0\n`);
  const shown = await run(
    [
      fetch,
      [...fetch.slice(0, 3), '-', ...state],
      ['describe', 'diagnosis', 'one', ...state],
      ...['wide', 'json', 'yaml', 'name'].map((form) => ['get', 'diagnoses', '-o', form, ...state]),
      ['get', 'operation', 'one', '-o', 'yaml', ...state],
    ],
    'terminal',
  );
  expect(shown.codes).toEqual([0, 0, 0, 0, 0, 0, 0, 0]);
  expect(shown.text).toContain('one\\x9b31m\\x202e');
  expect(activeIn(shown.text)).toEqual([]);
}, 60_000);
