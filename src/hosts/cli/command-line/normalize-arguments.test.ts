import { expect, test } from 'vitest';
import { command } from '../../../lib/terminal/command-spec.ts';
import { normalizeArguments } from './normalize-arguments.ts';

const help = { summary: '', examples: [], exitCodes: {}, load: async () => () => 0 };
const labCommands = [
  command({
    ...help,
    name: 'run',
    options: [{ flags: '--name <NAME>', about: '' }],
    passesOptionsOn: true,
  }),
  command({ ...help, name: 'break' }),
];

test.each([
  ['lab run ls -l --name x', 'lab run -- ls -l --name x'],
  ['lab run --name a ls --version', 'lab run --name a -- ls --version'],
  ['-q lab run --name=a sh -c x -- y', '-q lab run --name=a -- sh -c x -- y'],
  ['lab run --name a -- ls -l', 'lab run --name a -- ls -l'],
  ['lab run --name a', 'lab run --name a'],
  ['lab run --help', 'lab run --help'],
  ['lab break dead-volume-mount', 'lab break dead-volume-mount'],
  ['run -f x', 'run -f x'],
  ['get diag -o=json -- -o=json', 'get diag -ojson -- -o=json'],
  ['help check', 'help check'],
  ['help chekc', 'chekc'],
])('%s is parsed as %s', (typed, parsed) => {
  const args = normalizeArguments(typed.split(' '), ['check', 'lab'], labCommands);
  expect(args.join(' ')).toBe(parsed);
});
