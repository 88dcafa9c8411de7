import { expect, test } from 'vitest';
import { NamespacesError } from './namespaces.ts';
import { checkRights, refusalOf } from './requirements.ts';

test.each([
  [
    'sh: 54: echo: echo: I/O error\nmissing: a network of its own',
    'private root: missing: a network of its own',
  ],
  [
    'mknod: /dev/null: Operation not permitted\nmissing: the right to make devices',
    'mknod: /dev/null: Operation not permitted; missing: the right to make devices',
  ],
  ['sh: 3: Syntax error', 'private root: sh: 3: Syntax error'],
])('%j is reported with what helps', (output, why) => {
  const refusal = refusalOf('no node', new NamespacesError(output));
  expect(refusal.why.endsWith(why)).toBe(true);
});

test('root without a capability sees which one is missing', () => {
  expect(() => checkRights('no node', 'CapEff:\t000001ffffffffff\n')).not.toThrow();
  const without = 'CapInh:\t000001ffffffffff\nCapEff:\t000001fffffbffff\n';
  expect(() => checkRights('no node', without)).toThrow('CAP_SYS_CHROOT');
});
