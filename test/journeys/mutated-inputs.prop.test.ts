import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { examinedReport } from '../../src/hosts/cli/commands/examine.ts';
import { textsOf } from '../../src/hosts/cli/input/read-given.ts';
import { lintManifests } from '../../src/hosts/cli/manifests/lint-manifests.ts';
import { yamlText } from '../../src/hosts/cli/screens/show-report.ts';
import { replayCheck } from '../../src/node/checkup/replay.ts';
import type { Report } from '../../src/node/checkup/report.ts';
import { faults } from '../../src/node/faults/index.ts';
import {
  type Bundle,
  bundleOfFiles,
  filesOfBundle,
  manifestOf,
} from '../../src/node/recording/bundle.ts';
import { BundleError } from '../../src/node/recording/bundle-error.ts';
import { fixtureAt, fixturePaths } from '../fault-fixtures.ts';

/** The same inputs in every run; a failure can be repeated by its path. */
const SEED = 20_261_116;
const ROOT = join(import.meta.dirname, '../..');

const filesIn = (folder: string) =>
  readdirSync(join(ROOT, folder), { withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('README.md'))
    .map(({ name }) => join(ROOT, folder, name));

/** Every fixture: "stale-subpath-mount/broken-configmap". */
const FIXTURES = await fixturePaths();
const BUNDLES = new Map(
  await Promise.all(FIXTURES.map(async (path) => [path, await fixtureAt(path)] as const)),
);

function bundleAt(path: string): Bundle {
  const bundle = BUNDLES.get(path);
  if (!bundle) throw new Error(path);
  return bundle;
}

const faultOf = (path: string) => path.split('/')[0] ?? '';

async function linesOf(path: string): Promise<readonly string[]> {
  const answers = (await filesOfBundle(bundleAt(path))).get('answers.jsonl');
  return new TextDecoder().decode(answers).split('\n').filter(Boolean);
}

async function hasFault(path: string): Promise<boolean> {
  const about = faults.filter(({ id }) => id === faultOf(path));
  const report = await replayCheck(bundleAt(path), about, undefined);
  return report.faults[0]?.verdict === 'found';
}

/** What an attacker, a bad disk or a bad hand makes of a text. */
const SPLINTERS: readonly string[] = [
  '['.repeat(5_000),
  '{"a":'.repeat(5_000),
  '- '.repeat(5_000),
  '&a [*a, *a]',
  '\u0000',
  '\u001b]0;x\u0007\u202e',
  '\n---\n',
  '__proto__: {constructor: 1}\n',
  '"__proto__":{"toString":1},',
  '9'.repeat(400),
  '-1e999',
  'null',
  '\ud800',
];

const mutation = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  length: fc.constantFrom(0, 0, 1, 2, 7, 40, 1_000),
  put: fc.oneof(fc.constantFrom(...SPLINTERS), fc.string({ unit: 'binary', maxLength: 4 })),
});
const mutations = fc.array(mutation, { minLength: 1, maxLength: 4 });
type Mutations = readonly { readonly at: number; readonly length: number; readonly put: string }[];

function mutated(text: string, changes: Mutations): string {
  return changes.reduce((now, { at, length, put }) => {
    const start = Math.floor(at * now.length);
    return `${now.slice(0, start)}${put}${now.slice(start + length)}`;
  }, text);
}

describe('whatever is done to a text', () => {
  test('a recorded node is judged, or refused with a reason', async () => {
    let judged = 0;
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...FIXTURES), fc.nat(), mutations, async (...given) => {
        const [path, line, changes] = given;
        const report = await judgedOn(path, withChange(await linesOf(path), line, changes));
        judged += report ? 1 : 0;
      }),
      { numRuns: 300, seed: SEED },
    );
    expect(judged).toBeGreaterThan(50);
  }, 60_000);

  test('a recorded node with a fault is never clear because one of its answers is garbage', async () => {
    const judgements = await Promise.all(FIXTURES.map(hasFault));
    const faulty = FIXTURES.filter((_, at) => judgements[at]);
    let still = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...faulty),
        fc.nat(),
        fc.constantFrom(...SPLINTERS),
        async (path, line, garbage) => {
          const report = await judgedOn(path, withGarbage(await linesOf(path), line, garbage));
          const verdict = report?.faults.find(({ name }) => name === faultOf(path))?.verdict;
          if (verdict === 'found') still += 1;
          expect(verdict, `${path} ${line} ${garbage.slice(0, 20)}`).not.toBe('clear');
        },
      ),
      { numRuns: 300, seed: SEED },
    );
    expect(still).toBeGreaterThan(50);
  }, 60_000);

  test('loose texts are examined', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...filesIn('test/loose-texts')),
        mutations,
        async (path, changes) => {
          const text = mutated(readFileSync(path, 'utf8'), changes);
          const files = textsOf('given.txt', Buffer.from(text));
          const report = await examinedReport({ files, unread: [] }, 0);
          expect(report.faults).toHaveLength(
            faults.filter(({ isCurrentState }) => !isCurrentState).length,
          );
          // A single text never holds all that it takes to say that nothing is wrong.
          for (const { verdict } of report.faults) expect(verdict).not.toBe('clear');
          expect(await yamlText(report)).toContain('faults:');
        },
      ),
      { numRuns: 300, seed: SEED },
    );
  }, 60_000);

  test('manifests are checked', () => {
    fc.assert(
      fc.property(fc.constantFrom(...filesIn('test/manifests')), mutations, (path, changes) => {
        const text = mutated(readFileSync(path, 'utf8'), changes);
        expect(lintManifests([{ name: 'given.yaml', text }]).files).toBe(1);
      }),
      { numRuns: 200, seed: SEED },
    );
  }, 60_000);
});

/**
 * A change within one answer: where its line is still JSON, what is read from the node is odd; where
 * it is not, the bundle is. Either way nobody else's answer changes.
 */
function withChange(lines: readonly string[], number: number, changes: Mutations): string {
  const at = number % lines.length;
  const line = lines[at] ?? '';
  const text = /"text":("(?:[^"\\]|\\.)*")/.exec(line)?.[1];
  const changed =
    text === undefined
      ? mutated(line, changes)
      : line.replace(text, () => JSON.stringify(mutated(JSON.parse(text) as string, changes)));
  return lines.with(at, changed).join('\n');
}

/** Where a text or a value was, garbage is. */
function withGarbage(lines: readonly string[], number: number, garbage: string): string {
  const at = number % lines.length;
  const garbled = (lines[at] ?? '')
    .replace(/"text":"(?:[^"\\]|\\.)*"/, () => `"text":${JSON.stringify(garbage)}`)
    .replace(
      /"value":.*\}$/,
      () => `"value":{"criVersion":"v1","message":{"items":${JSON.stringify(garbage)}}}}`,
    );
  return lines.with(at, garbled).join('\n');
}

/** The report on that node with these answers, or none when they make no bundle. */
async function judgedOn(path: string, answers: string): Promise<Report | undefined> {
  const bundle = bundleAt(path);
  const files = new Map(await filesOfBundle(bundle));
  files.set('answers.jsonl', Buffer.from(answers));
  files.set('manifest.json', await manifestOf(bundle, files));
  try {
    const report = await replayCheck(await bundleOfFiles(files), faults, undefined);
    expect(report.faults).toHaveLength(faults.length);
    return report;
  } catch (error) {
    if (error instanceof BundleError) return undefined;
    throw error;
  }
}
