import { expect, test } from 'vitest';
import {
  developersPaths,
  idleCatchEntries,
  longFiles,
  looseVersions,
  registriesNamed,
  tidyRules,
} from './tidy-rules.ts';

const LONG = Array.from({ length: 80 }, (_, index) => `  const line${index} = 1;`).join('\n');

/** Each rule, a file that breaks it, and one beside it that does not. */
const cases: Readonly<Record<string, readonly [Example, Example][]>> = {
  'errors are caught only in the adapters that are listed': [
    [
      { path: 'src/node/evidence/mounts.ts', text: 'try { a(); } catch { b(); }' },
      { path: 'src/node/reader/live-node.ts', text: 'try { a(); } catch { b(); }' },
    ],
    [
      { path: 'src/hosts/cli/host.ts', text: 'void a().catch(() => {});' },
      {
        path: 'src/hosts/cli/host.ts',
        text: '// We catch nothing here.\ntry { a(); } finally { b(); }',
      },
    ],
  ],
  'one promise that is settled is a hidden catch': [
    [
      { path: 'src/hosts/cli/a.ts', text: 'const [a] = await Promise.allSettled([b()]);' },
      { path: 'src/hosts/cli/a.ts', text: 'const all = await Promise.allSettled([b(), c()]);' },
    ],
  ],
  'no file has a catch-all name': [
    [
      { path: 'src/lib/std/text-utils.ts', text: '' },
      { path: 'src/lib/std/database.ts', text: '' },
    ],
  ],
  'a file name is in kebab case, a component in Pascal case': [
    [
      { path: 'src/node/reader/liveNode.ts', text: '' },
      { path: 'src/node/reader/live-node.kernel.test.ts', text: '' },
    ],
    [
      { path: 'src/console/page.tsx', text: '' },
      { path: 'src/console/Page.tsx', text: '' },
    ],
  ],
  'JSON of others is read by parseJson': [
    [
      { path: 'src/node/evidence/pods/pods.ts', text: 'JSON.parse(text);' },
      { path: 'src/node/evidence/pods/pods.ts', text: 'parseJson(text);' },
    ],
  ],
  'JSON for a person is written by jsonText, and a file for them by writeNewFile': [
    [
      { path: 'src/hosts/cli/commands/get.ts', text: 'out(JSON.stringify(all, null, 2));' },
      { path: 'src/hosts/cli/commands/get.ts', text: 'send(JSON.stringify(all));' },
    ],
    [
      { path: 'src/hosts/local-node/keep.ts', text: 'writeFileSync(path, bytes);' },
      { path: 'src/hosts/local-node/write-new-file.ts', text: 'writeFileSync(path, bytes);' },
    ],
  ],
  'a function is not too long': [
    [
      { path: 'src/lib/std/a.ts', text: `export function a() {\n${LONG}\n}` },
      { path: 'src/lib/std/a.ts', text: LONG },
    ],
    [
      { path: 'src/lib/std/a.ts', text: `export const a = () => {\n${LONG}\n};` },
      { path: 'src/lib/std/a.test.ts', text: `describe('a', () => {\n${LONG}\n});` },
    ],
  ],
  'an open end is an issue, not a comment': [
    [
      { path: 'src/lib/std/a.ts', text: '// TODO: finish' },
      { path: 'src/lib/std/a.ts', text: "const word = 'TODO';" },
    ],
  ],
  'no default export': [
    [
      { path: 'src/lib/std/a.ts', text: 'export default 1;' },
      { path: 'src/lib/std/a.ts', text: 'export const a = 1;' },
    ],
  ],
  'no enum': [
    [
      { path: 'src/lib/std/a.ts', text: 'enum Colour { red }' },
      { path: 'src/lib/std/a.ts', text: "type Colour = 'red';" },
    ],
  ],
  'every test runs, always': [
    [
      { path: 'src/lib/std/a.test.ts', text: "test.skip('a', () => {});" },
      { path: 'src/lib/std/a.test.ts', text: "test.each([1])('a', () => {});" },
    ],
    [
      { path: 'src/lib/std/a.test.ts', text: "describe.concurrent.only('a', () => {});" },
      { path: 'src/lib/std/a.test.ts', text: 'words.skip(1);' },
    ],
  ],
  'a node reader is replaced by another one, not by a mock': [
    [
      { path: 'src/lib/std/a.test.ts', text: "vi.mock('./a.ts');" },
      { path: 'src/lib/std/a.test.ts', text: 'vi.useFakeTimers();' },
    ],
  ],
  'only main ends the process': [
    [
      { path: 'src/hosts/cli/host.ts', text: 'process.exit(1);' },
      { path: 'src/main.ts', text: 'process.exit(1);' },
    ],
  ],
  'a named pattern shows a line that it matches': [
    [
      { path: 'src/node/evidence/a.ts', text: 'const UID = /[0-9a-f-]{36}/;' },
      { path: 'src/node/evidence/a.ts', text: '// 6f1c2a9e-...\nconst UID = /[0-9a-f-]{36}/;' },
    ],
  ],
};

interface Example {
  readonly path: string;
  readonly text: string;
}

test.each(Object.entries(tidyRules))('%s: the rule can fail, and can hold', (name, rule) => {
  const examples = cases[name] ?? [];
  expect(examples).not.toEqual([]);
  for (const [broken, whole] of examples) {
    expect(rule(broken)).toHaveLength(1);
    expect(rule(whole)).toEqual([]);
  }
});

test('a place is named by path and line', () => {
  const rule = tidyRules['no enum'];
  expect(rule?.({ path: 'src/lib/std/a.ts', text: '\n\nenum Colour { red }' })).toEqual([
    'src/lib/std/a.ts:3 enum Colour',
  ]);
});

const HOME = ['', 'home', 'ada', 'kubediag'].join('/');
const WORK = ['', 'work', 'kubediag'].join('/');

test.each([
  [`see ${HOME}`, 'docs/a.md', 1],
  [`cd ${WORK}`, 'docs/a.md', 1],
  [`"${WORK}"`, 'src/node/faults/a/fixtures/healthy/answers.json', 1],
  [`"${HOME}"`, 'src/node/faults/a/fixtures/healthy/answers.json', 0],
  ['/proc/1/root/etc/hostname', 'docs/a.md', 0],
  [`\${root}/root/etc`, 'src/node/reader/a.ts', 0],
  ['workdir=/var/lib/containerd/7/work/x', 'src/node/reader/a.ts', 0],
])('%s in %s', (text, path, count) => {
  expect(developersPaths({ path, text })).toHaveLength(count);
});

test('a version is exact, or it is loose', () => {
  const loose = { a: '^1.2.3', b: 'latest', c: '~1.0.0', d: '1.x', e: 'npm:real@^1.0.0' };
  expect(looseVersions(loose)).toHaveLength(5);
  const exact = { a: '1.2.3', b: '1.0.0-alpha.6', c: 'npm:@scope/real@1.0.0' };
  expect(looseVersions(exact)).toEqual([]);
});

test('a lock file names no mirror', () => {
  const named = '"resolved": "https://mirror.example/a.tgz",';
  const neutral = '"resolved": "https://registry.npmjs.org/a/-/a-1.0.0.tgz",';
  expect(registriesNamed(`${named}\n${neutral}`)).toEqual(['https://mirror.example/a.tgz']);
});

test('a long file is listed, and a long test only when it is longer', () => {
  const text = 'a;\n'.repeat(320);
  const files = ['src/lib/std/a.ts', 'src/lib/std/a.test.ts'].map((path) => ({ path, text }));
  expect(longFiles(files)).toEqual(['src/lib/std/a.ts has 320 lines (more than 300)']);
});

test('an entry of the list of adapters must name a file that catches', () => {
  const json = (text: string) => idleCatchEntries([{ path: 'src/lib/std/json.ts', text }]);
  expect(json('try { a(); } catch { b(); }')).not.toContain('src/lib/std/json.ts');
  expect(json('a();')).toContain('src/lib/std/json.ts');
  expect(json('a();')).toContain('src/lib/process/');
});
