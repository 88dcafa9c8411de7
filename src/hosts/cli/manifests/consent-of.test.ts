import { expect, test } from 'vitest';
import type { Terminal } from '../../../lib/terminal/terminal.ts';
import type { Recovery } from '../../../node/model/fault.ts';
import { consentOf } from './consent-of.ts';

const RECOVERY: Recovery = {
  actions: [
    { kind: 'unmount', id: 1, parent: 1, device: '0:1', root: '/a', target: '/kubelet/pods/u/1' },
  ],
  touches: 'one mount',
  leaves: 'all else',
  afterwards: 'the container starts',
};
/** The output and the question, and whether the action is allowed in the end. */
async function asked(
  options: Partial<Parameters<typeof consentOf>[0]>,
  person: { readonly isThere: boolean; readonly says?: boolean },
) {
  const seen: string[] = [];
  const silent = () => {};
  const terminal: Terminal = {
    out: silent,
    err: (text) => void seen.push(text),
    width: 80,
    errWidth: 80,
    isInteractive: person.isThere,
    isOutTerminal: person.isThere,
    style: (_, text) => text,
    progress: silent,
    hint: silent,
    detail: silent,
    ask: () => Promise.resolve(''),
    confirm: (question) => {
      seen.push(question);
      return Promise.resolve(person.says ?? false);
    },
  };
  const { signal: stop } = new AbortController();
  const whole = { yes: false, isDryRun: false, recovery: undefined, stop, ...options };
  const consent = consentOf(whole, terminal);
  const request = { ...RECOVERY, summary: 'a container cannot start' };
  const named = { fault: 'stale-subpath-mount', finding: '3f9a1c' };
  return { consent: await consent({ ...request, ...named }), seen: seen.join('') };
}

test('a person sees the action, and is asked', async () => {
  const yes = await asked({}, { isThere: true, says: true });
  expect(yes.consent).toEqual({ given: 'to-act' });
  expect(yes.seen).toBe(
    'a container cannot start\nwill unmount /kubelet/pods/u/1\ntouches one mount\n' +
      'leaves all else\nContinue? [y/N] ',
  );
  const no = await asked({ recovery: 'Approval' }, { isThere: true, says: false });
  expect(no.consent).toEqual({ given: 'none', why: 'refused: declined at the prompt' });
});

test('nobody there is no yes, but --yes is', async () => {
  const nobody = await asked({}, { isThere: false, says: true });
  expect(nobody.consent).toMatchObject({ given: 'none' });
  expect((await asked({ yes: true }, { isThere: false })).consent).toEqual({ given: 'to-act' });
});

test('a dry run only plans, and Never is never, whatever else is said', async () => {
  const there = { isThere: true, says: true };
  const dry = await asked({ isDryRun: true, yes: true }, there);
  expect(dry).toEqual({ consent: { given: 'to-plan' }, seen: '' });
  const never = await asked({ recovery: 'Never', yes: true }, there);
  expect(never.consent).toEqual({ given: 'none', why: 'refused: spec.recovery is Never' });
});
