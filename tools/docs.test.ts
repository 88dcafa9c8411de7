import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { EXIT_MEANINGS } from '../src/lib/terminal/terminal.ts';
import { faults } from '../src/node/faults/index.ts';
import {
  brokenLinks,
  type DocRule,
  missingPaths,
  unknownCommands,
  unknownOptions,
  unknownScripts,
} from './doc-rules.ts';
import { generatedDocuments } from './generate.ts';
import { wholeProgram } from './pages/cli-page.ts';
import { filesBelow } from './source-files.ts';

const program = wholeProgram();
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
};
const atRoot = readdirSync('.')
  .filter((name) => name.endsWith('.md'))
  .map((path) => ({ path, text: readFileSync(path, 'utf8') }));
const documents = [
  ...atRoot,
  ...filesBelow(['src', 'lab', 'docs', 'test', 'tools', '.ci'], /[.]md$/),
];
const readme = readFileSync('README.md', 'utf8');
const tests = readFileSync('docs/tests.md', 'utf8');
const commandsPage = readFileSync('docs/commands.md', 'utf8');

const rules: Readonly<Record<string, DocRule>> = {
  'a link leads to a file and a heading that exist': brokenLinks,
  'a path that is named exists': missingPaths,
  'a command and its options exist': unknownCommands(program),
  'an option that stands alone is some command’s': (document) =>
    ['README.md', 'docs/install.md', 'ARCHITECTURE.md', 'CHANGELOG.md'].includes(document.path)
      ? unknownOptions(program)(document)
      : [],
  'an npm script exists': unknownScripts(scripts),
};

test('the documents are seen', () => {
  const paths = documents.map(({ path }) => path);
  expect(paths).toEqual(expect.arrayContaining(['README.md', 'docs/reference/cli.md']));
  expect(paths).toContain('src/node/reader/README.md');
});

test('the table of the README lists every fault, and each section of its page has text', () => {
  const folders = faults.map(({ id }) => `src/node/faults/${id}/README.md`);
  expect(folders.filter((page) => !readme.includes(`](${page}) | `))).toEqual([]);
  const empty = folders.flatMap((page) =>
    emptySections(readFileSync(page, 'utf8')).map((title) => `${page}: ${title}`),
  );
  expect(empty).toEqual([]);
  expect(emptySections('# a\n\n## Cause\n\n## Symptom\n\nIt hangs.\n')).toEqual(['Cause']);
});

/** The titles of sections that have no line of text. */
function emptySections(page: string): readonly string[] {
  const sections = page.split(/^## /m).slice(1);
  return sections.filter((section) => !/\n\s*\S/.test(section)).map((section) => section.trim());
}

test('the screen of a healthy node says so', () => {
  for (const width of [80, 120]) {
    const screen = readFileSync(`docs/screens/healthy-${width}.txt`, 'utf8');
    expect(screen).toMatch(/^no fault found\n/);
    expect(screen).not.toContain('unknown');
  }
});

test.each(Object.entries(rules))('%s', (_, rule) => {
  expect(documents.flatMap(rule)).toEqual([]);
});

describe('the rules can fail', () => {
  const wrongOf = (rule: DocRule, text: string) => rule({ path: 'docs/x.md', text });

  test.each([
    [brokenLinks, 'see [it](../README.md) and [that](nowhere.md)', ['nowhere.md']],
    [brokenLinks, '[x](../README.md#try-it) [y](../README.md#nothing)', ['README.md#nothing']],
    [brokenLinks, '[there](https://example.org/)\n```\n[a](b.md)\n```\n', []],
    [
      missingPaths,
      '`src/main.ts`, `src/no-such.ts` and `src/node/faults/<name>/`',
      ['src/no-such.ts'],
    ],
    [unknownCommands(program), 'run `kubediag chekc`', ['chekc']],
    [unknownCommands(program), '    kubediag check --pod a/b --podd x', ['--podd']],
    [unknownCommands(program), '```\nkubediag check -v >/dev/null; [ $? -eq 1 ]\n```\n', []],
    [unknownCommands(program), 'what kubediag itself says in `some/kubediag here`', []],
    [unknownCommands(program), '`kubediag replay FILE --timeout 3s`', ['--timeout']],
    [unknownCommands(program), '`kubediag lab exma` or `kubediag lab`', ['exma']],
    [unknownCommands(program), '`kubediag lab run -- kubediag check --no-such`', ['--no-such']],
    [unknownCommands(program), '`kubediag lab exam --variant x`', ['--variant']],
    [unknownOptions(program), 'pass `--kubelet-pid` or `--no-such`', ['--no-such']],
    [unknownScripts({ test: '' }), '`npm test`, `npm run lint`', ['lint']],
  ])('%o on %s', (rule, text, expected) => {
    const wrong = wrongOf(rule, text);
    expect(wrong).toHaveLength(expected.length);
    for (const [at, part] of expected.entries()) expect(wrong[at]).toContain(part);
  });
});

// It makes every page, transcripts included: seconds on a machine that has nothing else to do.
test('what is generated is current (npm run generate)', { timeout: 60_000 }, async () => {
  for (const [path, text] of await generatedDocuments()) {
    expect(existsSync(path) ? readFileSync(path, 'utf8') : undefined, path).toBe(text);
  }
});

test('the first two commands of the README set everything up themselves', () => {
  const blocks = [...readme.matchAll(/^```\n([\s\S]*?)^```/gm)].map(([, block]) => block?.trim());
  expect(blocks.slice(0, 2)).toEqual(['npm ci && npm start', 'npm ci && npm test']);
  for (const name of ['start', 'test']) {
    // node tools/start.ts
    const file = /^node (\S+)$/.exec(scripts[name] ?? '')?.[1] ?? '';
    expect(existsSync(file), `npm ${name} runs ${file}`).toBe(true);
  }
});

/** A page that somebody decides by is read in one go. */
const README_LINES_MAX = 150;

test('the README is short, and shows a report', () => {
  expect(readme.split('\n').length).toBeLessThanOrEqual(README_LINES_MAX);
  const firstScreen = readme.split('\n').slice(0, 24).join('\n');
  expect(firstScreen).toContain('](docs/screens/check.svg)');
  expect(firstScreen).toContain('npm ci && npm start');
});

test('docs/tests.md names every package that the tests fetch', () => {
  const rig = readFileSync('test/rig/containerd.ts', 'utf8');
  const list = /^const PACKAGES = \[(.+)\];$/m.exec(rig)?.[1] ?? '';
  const names = [...list.matchAll(/'([^']+)'/g)].map(([, name]) => name ?? '');
  expect(names).toContain('containerd');
  expect(names.filter((name) => !tests.includes(name))).toEqual([]);
});

test('docs/commands.md names every command and every exit code', () => {
  const missing = program.commands
    .map((command) => `\`kubediag ${command.name()}`)
    .filter((words) => !commandsPage.includes(words));
  expect(missing).toEqual([]);
  for (const [code, meaning] of Object.entries(EXIT_MEANINGS)) {
    expect(commandsPage).toContain(`| ${code} | ${meaning} |`);
  }
});

test('every decision record is listed, numbered once, and has its four parts', () => {
  const list = readFileSync('docs/decisions/README.md', 'utf8');
  const records = filesBelow(['docs/decisions'], /\/\d{4}-[a-z0-9-]+[.]md$/);
  expect(records.length).toBeGreaterThan(0);
  const numbers = records.map(({ path }) => path.slice('docs/decisions/'.length).slice(0, 4));
  expect(new Set(numbers).size).toBe(numbers.length);
  const parts = ['Context', 'Decision', 'Consequences', 'What would make us change it'];
  for (const { path, text } of records) {
    expect(list).toContain(`(${path.slice('docs/decisions/'.length)})`);
    const found = [...text.matchAll(/^\*\*([^*]+)\.\*\*/gm)].map(([, part]) => part);
    expect(found, path).toEqual(parts);
  }
});
