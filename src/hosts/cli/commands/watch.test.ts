import { expect, test } from 'vitest';
import type { Terminal } from '../../../lib/terminal/terminal.ts';
import { type Change, changesText } from './watch.ts';

const TERMINAL = { width: 80, style: (_: string, text: string) => text } as unknown as Terminal;

const appeared = (at: number, reason = 'LeftoverStays') =>
  ({
    time: '2026-11-15T10:22:33.000Z',
    fault: 'leftover-volume-directory',
    change: 'appeared',
    verdict: 'found',
    finding: {
      id: `f${at}`,
      state: 'latent',
      reason,
      summary: `shop/web-${at} has a leftover volume directory.`,
      subject: { namespace: 'shop', pod: `web-${at}` },
    },
  }) as unknown as Change;

test('one of several similar findings is shown in full, and each has a line', () => {
  expect(changesText([appeared(0), appeared(1), appeared(2, 'Other')], TERMINAL)).toBe(
    [
      '10:22:33  leftover-volume-directory  f0 appeared: latent',
      '          shop/web-0 has a leftover volume directory.',
      '10:22:33  leftover-volume-directory  f1 appeared: latent  shop/web-1',
      '10:22:33  leftover-volume-directory  f2 appeared: latent',
      '          shop/web-2 has a leftover volume directory.',
      '',
    ].join('\n'),
  );
});
