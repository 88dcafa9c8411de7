import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import type { SourceFile } from './source-files.ts';

/** What in a document is not, or no longer, true: each as "path: what". */
export type DocRule = (document: SourceFile) => readonly string[];

// ```console
const FENCED = /^```[\s\S]*?^```/gm;
// [the reference](docs/reference/cli.md#exit-codes)
const LINK = /\[[^\]]*\]\(([^)\s]+)\)/g;
// https://github.com/kubernetes/kubernetes/issues/68211
const ELSEWHERE = /^[a-z]+:/;

export const brokenLinks: DocRule = ({ path, text }) =>
  [...text.replace(FENCED, '').matchAll(LINK)].flatMap(([, target = '']) => {
    if (ELSEWHERE.test(target)) return [];
    const [file = '', anchor] = target.split('#');
    const place = file === '' ? path : join(dirname(path), file);
    if (!existsSync(place)) return [`${path}: ${target} does not exist`];
    const isThere = anchor === undefined || anchorsIn(readFileSync(place, 'utf8')).includes(anchor);
    return isThere ? [] : [`${path}: ${target} is no heading there`];
  });

/** Headings as GitHub names them: "## Exit codes" is "exit-codes". */
function anchorsIn(text: string): readonly string[] {
  return [...text.replace(FENCED, '').matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

// `src/node/reader/limits.ts` or `test/rig`, but not `src/node/faults/<name>/` or `faults/*/fixtures/`
const PATH = /`((?:src|lab|test|tools|docs|\.ci)\/[\w./-]+)`/g;

export const missingPaths: DocRule = ({ path, text }) =>
  [...text.matchAll(PATH)].flatMap(([, named = '']) =>
    existsSync(named) ? [] : [`${path}: ${named} does not exist`],
  );

// kubediag recover stale-subpath-mount --dry-run
const COMMAND = /(?<![\w./~-])kubediag ([a-z]+)([^`\n|;>#]*)/g;
// ` --state-dir`
const OPTION = /(?<=\s)--?[a-z][\w-]*/g;

/** What is written as code: in backticks, between fences, or four columns to the right. */
function codeIn(text: string): string {
  const prose = text.replace(FENCED, '');
  const spans = [...prose.matchAll(/`[^`]+`|^ {4,}.*$/gm)];
  return [...text.matchAll(FENCED), ...spans].map(([part]) => part).join('\n');
}

/** Commands and options that a document names and the command line does not have. */
export function unknownCommands(program: Command): DocRule {
  const unknownIn = (code: string): readonly string[] =>
    [...code.matchAll(COMMAND)].flatMap(([whole, name = '', rest = '']) => {
      // What stands behind "--" is another command, and may be one of ours.
      const [own = '', ...inner] = rest.split(/ -- /);
      const first = program.commands.find((each) => each.name() === name);
      const command = first?.commands.length ? memberNamed(first, own) : first;
      if (!command) return [`there is no command "${whole.trim()}"`];
      const known = optionNames([command, program]);
      return [
        ...[...own.matchAll(OPTION)]
          .filter(([option]) => !known.includes(option))
          .map(([option]) => `kubediag ${name} has no option ${option}`),
        ...inner.flatMap(unknownIn),
      ];
    });
  return ({ path, text }) => unknownIn(codeIn(text)).map((what) => `${path}: ${what}`);
}

/** "exam" of ` exam -o json`; a group that is named alone stands for itself. */
function memberNamed(group: Command, rest: string): Command | undefined {
  const [, name] = /^ ([a-z]+)/.exec(rest) ?? [];
  return name === undefined ? group : group.commands.find((each) => each.name() === name);
}

/** Options that stand alone in a text, such as `--kubelet-pid`, must be some command's. */
export function unknownOptions(program: Command): DocRule {
  const members = program.commands.flatMap((each) => each.commands);
  const known = optionNames([...program.commands, ...members, program]);
  return ({ path, text }) =>
    [...text.replace(FENCED, '').matchAll(/`(--[a-z][\w-]*)/g)]
      .filter(([, option = '']) => !known.includes(option))
      .map(([, option]) => `${path}: no command has the option ${option}`);
}

function optionNames(commands: readonly Command[]): readonly string[] {
  const own = commands.flatMap(({ options }) => options);
  return ['-h', '--help', ...own.flatMap(({ short, long }) => [short, long])].filter(
    (name) => typeof name === 'string',
  );
}

/** npm scripts that a document names and package.json does not have. */
export function unknownScripts(scripts: Readonly<Record<string, string>>): DocRule {
  return ({ path, text }) =>
    // npm run generate, npm test
    [...text.matchAll(/\bnpm (?:run ([\w-]+)|(test|start))\b/g)]
      .map(([, run, short]) => run ?? short ?? '')
      .filter((name) => !(name in scripts))
      .map((name) => `${path}: there is no npm script ${name}`);
}
