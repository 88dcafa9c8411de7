import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkOf, finding, unknown } from '../../../../test/synthetic-node-check.ts';
import type { NodeCheck } from '../../../pipeline/channel/node-check.ts';
import { eventsBetween } from './fault-events.ts';
import { RETURN_MS, RETURNED_ABSENT_MS, STATE_HELD_MS } from './limits.ts';
import { initialState, type NodeState, withCheck } from './node-state.ts';
import { conditionOf, reportOf } from './published-state.ts';

const part = fc.constantFrom(
  finding(),
  finding({ state: 'latent' }),
  finding({ id: 'b2', subject: { namespace: 'default', pod: 'web-1' } }),
  finding({ id: 'c3', fault: 'dead-volume-mount', state: 'damaged' }),
  unknown(),
  unknown({ subject: { namespace: 'default', pod: 'web-1' } }),
  unknown({ fault: 'dead-volume-mount' }),
);
const check = fc
  .uniqueArray(part, { selector: (each) => ('id' in each ? each.id : each), maxLength: 4 })
  .map((parts) => checkOf(...parts));
/** A check, and the time since the one before. */
const history = fc.array(fc.tuple(check, fc.integer({ min: 1, max: 120_000 })), { maxLength: 40 });

interface Moment {
  readonly check: NodeCheck;
  readonly nowMs: number;
  readonly before: NodeState;
  readonly after: NodeState;
}

function momentsOf(checks: readonly (readonly [NodeCheck, number])[]): readonly Moment[] {
  let after = initialState();
  let nowMs = 0;
  return checks.map(([each, waitedMs]) => {
    const before = after;
    nowMs += waitedMs;
    after = withCheck(before, each, nowMs);
    return { check: each, nowMs, before, after };
  });
}

const ids = ({ findings }: NodeState) => [...findings.values()].map(({ id }) => id);

test('a finding appears at once, and only a check that has it raises it', () => {
  fc.assert(
    fc.property(history, (checks) => {
      for (const { check: each, before, after } of momentsOf(checks)) {
        const seen = each.findings.map(({ id }) => id);
        expect(ids(after)).toEqual(expect.arrayContaining(seen));
        for (const id of ids(after)) expect([...ids(before), ...seen]).toContain(id);
      }
    }),
  );
});

test('a finding is gone only after two checks without it that judged its fault', () => {
  fc.assert(
    fc.property(history, (checks) => {
      const moments = momentsOf(checks);
      for (const [index, { before, after }] of moments.entries()) {
        for (const known of before.findings.values()) {
          if (ids(after).includes(known.id)) continue;
          const since = moments.slice(0, index + 1).toReversed();
          const seenAt = since.findIndex(({ check: each }) =>
            each.findings.some(({ id }) => id === known.id),
          );
          const judged = since
            .slice(0, seenAt)
            .filter(
              ({ check: each }) =>
                !each.unknowns.some(({ fault, subject }) => fault === known.fault && !subject),
            );
          expect(judged.length).toBeGreaterThanOrEqual(2);
        }
      }
    }),
  );
});

test('the state of a finding gets better at most once a minute', () => {
  fc.assert(
    fc.property(history, (checks) => {
      let activeMs = Number.NEGATIVE_INFINITY;
      for (const { check: each, nowMs, before, after } of momentsOf(checks)) {
        const seen = each.findings.find(({ id }) => id === 'a1');
        if (seen?.state === 'active') activeMs = nowMs;
        const [was, is] = [before, after].map(({ findings }) =>
          [...findings.values()].find(({ id }) => id === 'a1'),
        );
        if (was?.state !== 'active' || is?.state !== 'latent') continue;
        expect(nowMs - activeMs).toBeGreaterThanOrEqual(STATE_HELD_MS);
      }
    }),
  );
});

test('only a check that finds nothing and leaves nothing open gives clear', () => {
  fc.assert(
    fc.property(history, (checks) => {
      for (const { check: each, after } of momentsOf(checks)) {
        const isClear = reportOf(after)?.state === 'clear';
        expect(conditionOf(after)?.status === 'False').toBe(isClear);
        if (!isClear) continue;
        expect(each.findings).toEqual([]);
        expect(each.unknowns).toEqual([]);
        expect(each.faults.map(({ verdict }) => verdict)).not.toContain('unknown');
      }
    }),
  );
});

test('Unknown needs three checks in a row that leave something open, and ends after two that do not', () => {
  fc.assert(
    fc.property(history, (checks) => {
      const moments = momentsOf(checks);
      const statuses = moments.map(({ after }) => conditionOf(after)?.status);
      for (const [index, status] of statuses.entries()) {
        const last = statuses.slice(0, index).findLast((each) => each !== undefined);
        const newest = moments.slice(0, index + 1).map(({ check: each }) => each.unknowns.length);
        if (status === 'False' && last === 'Unknown') expect(newest.slice(-2)).toEqual([0, 0]);
        if (status === 'Unknown') expect(newest.slice(-3)).not.toContain(0);
      }
    }),
  );
});

test('a finding that comes and goes as often as it can gives few Events', () => {
  const everyMs = 3_000;
  const checks = Array.from({ length: 1_200 }, (_, index) => {
    const isFound = index % 3 === 0;
    return [isFound ? checkOf(finding()) : checkOf(), everyMs] as const;
  });
  const moments = momentsOf(checks);
  const events = moments.flatMap(({ before, after }) => eventsBetween(before, after));
  // It must be absent for a minute once it has returned, and never is.
  expect(RETURN_MS).toBeGreaterThan(RETURNED_ABSENT_MS);
  expect(events.map(({ action, pod }) => `${action} ${pod?.name ?? 'node'}`)).toEqual([
    ...['Found node', 'Found web-0', 'Cleared node', 'Cleared web-0'],
    ...['Found node', 'Found web-0'],
  ]);
});
