import { describe, expect, test } from 'vitest';
import { checkOf, finding, unknown } from '../../../../test/synthetic-node-check.ts';
import { eventsBetween } from './fault-events.ts';
import { initialState, type NodeState, withCheck } from './node-state.ts';
import { conditionOf, knownFindings, reportOf, substanceOf } from './published-state.ts';

/** The states after each check; one check every ten seconds unless its time is given. */
function states(
  checks: readonly ReturnType<typeof checkOf>[],
  everyMs = 10_000,
  from = initialState(),
): readonly NodeState[] {
  let state = from;
  return checks.map((check, index) => {
    state = withCheck(state, check, index * everyMs);
    return state;
  });
}

const statusOf = (state: NodeState) => conditionOf(state)?.status;
const CLEAR = checkOf();
const FOUND = checkOf(finding());
const UNKNOWN = checkOf(unknown());

const ADVICE =
  ' What to do: create a Diagnosis of the node with operationSet stale-subpath-mount; kubectl describe ' +
  'nodereport shows the proof.';

describe('a finding', () => {
  test('appears with the first check that has it, and is gone after two that have not', () => {
    const seen = states([CLEAR, FOUND, CLEAR, CLEAR]);
    expect(seen.map(statusOf)).toEqual(['False', 'True', 'True', 'False']);
  });

  test('stays when one check misses it', () => {
    const seen = states([FOUND, CLEAR, FOUND, CLEAR, FOUND]);
    expect(seen.map(statusOf)).toEqual(['True', 'True', 'True', 'True', 'True']);
    expect(seen.slice(1).flatMap((state, at) => eventsBetween(seen[at] ?? state, state))).toEqual(
      [],
    );
  });

  test('stays in its place beside others when every second check misses it', () => {
    const both = checkOf(finding(), finding({ id: 'b2' }));
    const others = checkOf(finding({ id: 'b2' }));
    const seen = states([both, others, both, others, both]);
    const order = seen.map(({ findings }) => [...findings.values()].map(({ id }) => id));
    expect(order).toEqual(seen.map(() => ['a1', 'b2']));
  });

  test('is neither raised nor cleared by an unknown', () => {
    const seen = states([FOUND, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, CLEAR, UNKNOWN, CLEAR]);
    expect(seen.map(({ findings }) => findings.size)).toEqual([1, 1, 1, 1, 1, 1, 1, 0]);
  });

  test('is cleared beside an unknown about another pod', () => {
    const other = unknown({ subject: { namespace: 'default', pod: 'other' } });
    const same = unknown({ subject: { namespace: 'default', pod: 'web-0' } });
    expect(states([FOUND, checkOf(other), checkOf(other)]).at(-1)?.findings.size).toBe(0);
    expect(states([FOUND, checkOf(same), checkOf(same)]).at(-1)?.findings.size).toBe(1);
  });

  test('of a fault with more findings than a check lists stays', () => {
    const cut = checkOf({ ...CLEAR, faults: [{ ...FAULT, verdict: 'found', notListed: 3 }] });
    expect(states([FOUND, cut, cut, cut]).at(-1)?.findings.size).toBe(1);
  });

  test('of a fault that this version does not know is cleared', () => {
    const without = checkOf({ ...CLEAR, faults: [] });
    expect(states([FOUND, without, without]).at(-1)?.findings.size).toBe(0);
  });

  test('gets worse at once, and better only when it was not worse for a minute', () => {
    const latent = checkOf(finding({ state: 'latent' }));
    const seen = states([latent, FOUND, latent, FOUND, latent, latent], 20_000);
    const stateOf = ({ findings }: NodeState) => [...findings.values()][0]?.state;
    expect(seen.map(stateOf)).toEqual(['latent', ...Array(5).fill('active')]);
    const last = seen.at(-1) ?? initialState();
    expect(stateOf(withCheck(last, latent, 119_999))).toBe('active');
    expect(stateOf(withCheck(last, latent, 120_000))).toBe('latent');
  });

  test('that is latent is not left to a Diagnosis, which would not repair it', () => {
    const [state = initialState()] = states([checkOf(finding({ state: 'latent' }))]);
    expect(conditionOf(state)?.message).toContain(
      ' What to do: run kubediag recover stale-subpath-mount --finding a1 --host-root /host in the executor ' +
        'container of the node; a Diagnosis repairs it only once it is active; ',
    );
  });

  test('without a repair comes with the manual step, unless that is too long for a message', () => {
    const messageOf = (manualStep: string) => {
      const [state = initialState()] = states([checkOf(finding({ manualStep }))]);
      return conditionOf(state)?.message;
    };
    expect(messageOf('raise the limit: sysctl -w a=1')).toContain(
      ' What to do: raise the limit: sysctl -w a=1; kubectl describe nodereport',
    );
    expect(messageOf('x'.repeat(201))).toContain(
      ' What to do: see the manual steps, kubediag explain stale-subpath-mount; ',
    );
  });

  test('does not change its reason back and forth', () => {
    const other = checkOf(finding({ reason: 'ContainerWillNotRestart' }));
    const reasons = states([FOUND, other, FOUND, other]).map(
      (state) => reportOf(state)?.findings?.[0]?.reason,
    );
    expect(new Set(reasons)).toEqual(new Set(['ContainerCannotStart']));
  });

  test('that comes and goes must be absent for longer each time', () => {
    const seen = states([FOUND, CLEAR, CLEAR, FOUND, CLEAR, CLEAR, CLEAR], 10_000);
    expect(seen.map(statusOf)).toEqual(['True', 'True', 'False', 'True', 'True', 'True', 'True']);
    const last = seen.at(-1) ?? initialState();
    expect(statusOf(withCheck(last, CLEAR, 99_999))).toBe('True');
    const gone = withCheck(last, CLEAR, 100_000);
    expect(statusOf(gone)).toBe('False');
    const again = withCheck(withCheck(gone, FOUND, 110_000), CLEAR, 120_000);
    expect(statusOf(withCheck(again, CLEAR, 239_999))).toBe('True');
    expect(statusOf(withCheck(again, CLEAR, 240_000))).toBe('False');
  });

  test('that comes back much later is a new one', () => {
    const seen = states([FOUND, CLEAR, CLEAR, FOUND, CLEAR, CLEAR], 700_000);
    expect(seen.map(statusOf)).toEqual(['True', 'True', 'False', 'True', 'True', 'False']);
  });
});

describe('an unknown', () => {
  test('counts after three checks in a row', () => {
    const seen = states([CLEAR, UNKNOWN, UNKNOWN, UNKNOWN, CLEAR, CLEAR]);
    expect(seen.map(statusOf)).toEqual([
      ...['False', undefined, undefined, 'Unknown', undefined, 'False'],
    ]);
    expect(seen.map((state) => reportOf(state)?.state)).toEqual([
      ...['clear', undefined, undefined, 'unknown', undefined, 'clear'],
    ]);
    expect(conditionOf(seen[3] ?? initialState())).toEqual({
      status: 'Unknown',
      reason: 'CheckIncomplete',
      message: 'stale-subpath-mount: mount table: permission denied',
    });
  });

  test('of the first checks is not reported as False', () => {
    expect(states([UNKNOWN, UNKNOWN, UNKNOWN]).map(statusOf)).toEqual([
      ...[undefined, undefined, 'Unknown'],
    ]);
    expect(states([UNKNOWN, CLEAR]).map(statusOf)).toEqual([undefined, 'False']);
    expect(states([UNKNOWN]).map(reportOf)).toEqual([undefined]);
  });

  test('does not come and go: it ends after two complete checks in a row', () => {
    const seen = states([
      ...[UNKNOWN, UNKNOWN, UNKNOWN, CLEAR, UNKNOWN, CLEAR, UNKNOWN, UNKNOWN, UNKNOWN],
      ...[CLEAR, CLEAR, UNKNOWN, CLEAR],
    ]);
    expect(seen.map(statusOf).filter((status) => status !== undefined)).toEqual([
      ...['Unknown', 'Unknown', 'False', 'False'],
    ]);
  });

  test('of one fault lets nobody say that the end of another was the end of all', () => {
    const other = finding({ fault: 'dead-volume-mount', id: 'c3' });
    const seen = states([CLEAR, checkOf(other), CLEAR, UNKNOWN, UNKNOWN, UNKNOWN]);
    expect(seen.map(statusOf)).toEqual(['False', 'True', 'True', undefined, undefined, 'Unknown']);
    expect(seen.map((state) => reportOf(state)?.state)).toEqual([
      ...['clear', 'active', 'active', undefined, undefined, 'unknown'],
    ]);
  });

  test('counts also if it is of another fault each time', () => {
    const other = checkOf(unknown({ fault: 'dead-volume-mount', message: 'too slow' }));
    const seen = states([CLEAR, UNKNOWN, other, UNKNOWN, other]);
    expect(seen.map(statusOf)).toEqual(['False', undefined, undefined, 'Unknown', 'Unknown']);
    expect(reportOf(seen.at(-1) ?? initialState())).toMatchObject({
      state: 'unknown',
      unknowns: [{ fault: 'dead-volume-mount', message: 'too slow' }],
    });
  });
});

describe('what is published', () => {
  const [state = initialState()] = states([
    checkOf(finding(), finding({ id: 'b2', state: 'latent' })),
  ]);

  test('names the worst finding in the condition', () => {
    expect(conditionOf(state)).toEqual({
      status: 'True',
      reason: 'StaleSubpathMount',
      message: `Container app of pod web-0 cannot start. 1 more finding.${ADVICE}`,
    });
  });

  test('has all findings in the report, which an agent that starts takes over', () => {
    const report = reportOf(state);
    expect(report).toMatchObject({
      state: 'active',
      counts: { findings: 2, active: 1, latent: 1, damaged: 0, unknowns: 0 },
      findings: [{ id: 'a1', since: CLEAR.time }, { id: 'b2' }],
    });
    const restored = initialState(knownFindings(report ?? {}, 0));
    const next = states([checkOf(finding(), finding({ id: 'b2', state: 'latent' }))], 0, restored);
    expect(substanceOf(reportOf(next[0] ?? restored))).toBe(substanceOf(report));
    expect(eventsBetween(restored, next[0] ?? restored)).toEqual([]);
    const cured = states([CLEAR, CLEAR], 10_000, restored);
    expect(cured.map(statusOf)).toEqual(['True', 'False']);
  });

  test('is another report only when more than times and numbers have changed', () => {
    const tried = (summary: string) => checkOf(finding({ summary }));
    const later = { ...tried('Tried 12 times.'), time: '2026-11-16T10:01:00Z', durationMs: 7 };
    const [first, same, other] = states([tried('Tried 4 times.'), later, tried('It runs.')])
      .map(reportOf)
      .map(substanceOf);
    expect(same).toBe(first);
    expect(other).not.toBe(first);
    expect(substanceOf(reportOf(state))).not.toBe(first);
  });

  test('has Events about the node and the pod, when a fault appears and when it is gone', () => {
    const seen = states([CLEAR, FOUND, CLEAR, CLEAR]);
    const events = seen.slice(1).map((each, at) => eventsBetween(seen[at] ?? each, each));
    const pod = { namespace: 'default', name: 'web-0', uid: 'u1' };
    const found = { type: 'Warning', reason: 'StaleSubpathMount', action: 'Found' };
    const cleared = { type: 'Normal', reason: 'StaleSubpathMountCleared', action: 'Cleared' };
    expect(events).toMatchObject([
      [
        { ...found, pod: undefined, note: `Container app of pod web-0 cannot start.${ADVICE}` },
        { ...found, pod },
      ],
      [],
      [
        { ...cleared, note: 'The fault stale-subpath-mount is no longer found on this node.' },
        { ...cleared, pod },
      ],
    ]);
  });

  test('has an Event when a fault gets worse, and none for one more finding', () => {
    const latent = finding({ state: 'latent' });
    const seen = states([
      checkOf(latent),
      checkOf(latent, finding({ id: 'b2', state: 'latent' })),
      FOUND,
    ]);
    const events = seen.slice(1).map((each, at) => eventsBetween(seen[at] ?? each, each).length);
    expect(events).toEqual([0, 2]);
  });

  test('has no Events about pods that the report of an earlier agent does not list', () => {
    const restored = initialState(knownFindings(reportOf(state) ?? {}, 0), true);
    const third = finding({ id: 'c3', subject: { namespace: 'default', pod: 'web-1' } });
    const [next = restored, after = restored] = states(
      [checkOf(third), checkOf(third)],
      1,
      restored,
    );
    expect(eventsBetween(restored, next)).toEqual([]);
    expect(eventsBetween(next, after)).not.toEqual([]);
  });
});

const FAULT = { fault: 'stale-subpath-mount', benign: 0 };
