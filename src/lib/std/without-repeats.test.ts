import { expect, test } from 'vitest';
import { LOG_REPEAT_MS, LOG_REPEATS_MAX } from './limits.ts';
import { withoutRepeats } from './without-repeats.ts';

test('passes an equal message on once in a while, and remembers only a few', () => {
  const messages: string[] = [];
  let now = 0;
  const log = withoutRepeats(
    (message) => messages.push(message),
    () => now,
  );
  for (const message of ['a', 'a', 'b', 'a']) log(message);
  expect(messages.splice(0)).toEqual(['a', 'b']);
  now = LOG_REPEAT_MS;
  log('a');
  expect(messages.splice(0)).toEqual(['a']);
  for (let index = 0; index < LOG_REPEATS_MAX; index += 1) log(`other ${index}`);
  log('a');
  expect(messages.filter((message) => message === 'a')).toHaveLength(1);
});
