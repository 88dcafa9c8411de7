import { expect, test } from 'vitest';
import { sweepMessage } from './messages.ts';

test.each([
  [['a'], true, '1 entry of /'],
  [['a', 'b'], true, '2 entries of /'],
  [['a'], false, '1 or more entries of /'],
])('of the entries %j, read to the end: %s, it deletes %s', (deletes, isWhole, said) => {
  const value = { folder: '/', deletes, isWhole, origin: { file: '/' } };
  const message = sweepMessage({ known: true, value });
  expect(message).toContain(`${said}, all that is there`);
});
