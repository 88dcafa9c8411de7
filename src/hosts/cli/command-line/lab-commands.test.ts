import { expect, test } from 'vitest';
import { withCommandApart } from './lab-commands.ts';

test.each([
  ['lab run ls -l --name x', 'lab run -- ls -l --name x'],
  ['lab run --name a ls --version', 'lab run --name a -- ls --version'],
  ['-q lab run --name=a sh -c x -- y', '-q lab run --name=a -- sh -c x -- y'],
  ['lab run --name a -- ls -l', 'lab run --name a -- ls -l'],
  ['lab run --name a', 'lab run --name a'],
  ['lab run --help', 'lab run --help'],
  ['lab break dead-volume-mount', 'lab break dead-volume-mount'],
  ['run -f x', 'run -f x'],
])('%s is %s', (text, apart) => {
  expect(withCommandApart(text.split(' ')).join(' ')).toBe(apart);
});
