import { expect, test } from 'vitest';
import type { Break } from './break.ts';
import { checkPossible, chooseBreak, healed, nextSteps, requestedBreaks } from './change-node.ts';
import { WRITTEN } from './heal.ts';

function fixture(kind: Break['kind'], fault: string, variant: string): Break {
  const expected = { verdict: 'clear', repair: 'none' } as const;
  return { kind, fault, variant, about: '', expected, make: async () => {} };
}

const first = fixture('fault', 'dead-volume-mount', 'in-tree');
const second = fixture('fault', 'dead-volume-mount', 'csi');
const alike = fixture('look-alike', 'dead-volume-mount', 'slow-server');
const all = [first, second, alike];

test('a fault is made in its first variant, or in the requested one', () => {
  expect(chooseBreak(all, 'dead-volume-mount', {})).toBe(first);
  expect(chooseBreak(all, 'dead-volume-mount', { variant: 'csi' })).toBe(second);
  expect(chooseBreak(all, undefined, { lookAlike: 'slow-server' })).toBe(alike);
  expect(chooseBreak(all, undefined, {})).toBeUndefined();
});

test.each([
  ['dead-volume', {}, 'no such fault: "dead-volume"'],
  ['dead-volume-mount', { variant: 'x' }, 'has no variant "x"; it has in-tree, csi'],
  ['dead-volume-mount', { variant: 'slow-server' }, 'has no variant "slow-server"'],
  [undefined, { variant: 'csi' }, '--variant needs a fault'],
  [undefined, { lookAlike: 'csi' }, 'no such look-alike: "csi"'],
  [
    'dead-volume-mount',
    { lookAlike: 'slow-server' },
    'cannot be combined with the fault dead-volume-mount',
  ],
  [
    undefined,
    { lookAlike: 'slow-server', variant: 'csi' },
    'cannot be combined with --variant csi',
  ],
])('%s %o is not known', (fault, options, text) => {
  expect(() => chooseBreak(all, fault, options)).toThrow(text);
});

test('each argument names a fault, or a fault and a variant after a slash', () => {
  expect(requestedBreaks(all, ['dead-volume-mount'], {})).toEqual([{ form: first, isAny: true }]);
  expect(requestedBreaks(all, ['dead-volume-mount/csi'], {})).toEqual([
    { form: second, isAny: false },
  ]);
  const several = ['dead-volume-mount/csi', 'dead-volume-mount'];
  expect(requestedBreaks(all, several, {}).map(({ form }) => form)).toEqual([second, first]);
  expect(requestedBreaks(all, [], {})).toEqual([]);
  expect(() => requestedBreaks(all, several, { variant: 'csi' })).toThrow(
    '--variant takes one fault',
  );
  expect(() => requestedBreaks(all, ['dead-volume-mount', 'x/y'], {})).toThrow(
    'no such fault: "x"',
  );
  expect(nextSteps([first, second], 'practice')).toContain(
    'kubediag lab run -- kubediag recover\n',
  );
});

test('a fault that this kubelet cannot have is refused with a list of those it can have', () => {
  const lab = {
    name: 'real',
    settings: {
      name: 'real',
      mountNamespace: '',
      runtime: { kind: 'stand-in', why: '' },
      kubelet: { kind: 'real', program: '/kubelet', version: 'v1.36.3' },
    },
  } as const;
  const old = { ...first, leftOut: () => 'it needs an older kubelet' };
  expect(() =>
    checkPossible([old, second, alike], { form: second, isAny: false }, lab),
  ).not.toThrow();
  const refused = (known: readonly Break[]) => {
    let todo = '';
    try {
      checkPossible(known, { form: old, isAny: false }, lab);
    } catch (error) {
      ({ todo } = error as { readonly todo: string });
    }
    return todo;
  };
  expect(refused([old, second, alike])).toContain(
    'kubediag lab break --name real dead-volume-mount --variant with one of csi;',
  );
  expect(refused([old])).toMatch(/^create another node/);
  expect(() => checkPossible([old, second], { form: old, isAny: true }, lab)).not.toThrow();
});

test('no repair is suggested for a look-alike', () => {
  expect(nextSteps([first], 'a')).toContain('kubediag lab run --name a -- kubediag recover dead-');
  expect(nextSteps([alike], 'practice')).not.toContain('recover');
  expect(nextSteps([alike], 'practice')).toContain('must not report a fault');
});

test('the output says what heal restores', () => {
  for (const folder of WRITTEN) expect(healed('a')).toContain(folder);
  expect(healed('a')).toContain('/etc, /usr or the host name, stay until');
});

test('the directory of an agent that goes on is not listed as restored', () => {
  const reported = healed('a', [{ pid: 7, stateFolder: '/var/lib/kubediag' }]);
  for (const folder of WRITTEN) {
    if (folder === '/var/lib/kubediag') expect(reported).not.toContain(folder);
    else expect(reported).toContain(folder);
  }
});
