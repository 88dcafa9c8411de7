import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Terminal } from '../../../lib/terminal/terminal.ts';
import type { Snapshot } from '../../../node/model/evidence.ts';
import type { AnyFault } from '../../../node/model/fault.ts';
import type { Finding } from '../../../node/model/finding.ts';
import { awaitHealing } from './repair-findings.ts';

const HOUR_MS = 3_600_000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

test.each([
  ['back', -HOUR_MS],
  ['forward', HOUR_MS],
])('a clock that is set %s does not change how long we wait', async (_, setByMs) => {
  let looks = 0;
  const fault = {
    needs: {},
    hasHealed: () => {
      looks += 1;
      if (looks === 1) vi.setSystemTime(Date.now() + setByMs);
      return looks > 2;
    },
    healedMeans: 'the container runs',
  } as unknown as AnyFault;
  const output: string[] = [];
  const say = (text: string) => void output.push(text);
  const terminal = { out: say, err: say, progress: () => {} } as unknown as Terminal;
  const planned = { fault, findings: [{} as Finding] };
  const healed = awaitHealing(
    planned,
    () => ({}) as Snapshot,
    new AbortController().signal,
    terminal,
  );
  expect(await healed).toBe(true);
  expect(output).toEqual([
    expect.stringMatching(/^healed {2}the container runs, [0-9] s after the recovery\n$/),
  ]);
});
