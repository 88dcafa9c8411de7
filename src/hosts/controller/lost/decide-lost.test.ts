import { expect, test } from 'vitest';
import { diagnosisDigest } from '../digests.ts';
import { type AgentState, agentStateOf, decideLost, isConcerned } from './decide-lost.ts';

const TIMES = { arrivalMs: 60_000, lostEndMs: 600_000 };
const NOW = new Date('2026-01-02T03:10:00Z');
const PRESENT: AgentState = { kind: 'present' };
const ARRIVING: AgentState = { kind: 'arriving' };
const NO_NODE: AgentState = { kind: 'no-node' };
const LOST: AgentState = { kind: 'lost', reason: 'AgentLost', isOver: false };
const OVER: AgentState = { kind: 'lost', reason: 'AgentLost', isOver: true };
const MISSING: AgentState = { kind: 'lost', reason: 'AgentMissing', isOver: false };

const lease = (unchangedMs: number, isRenewed = true) => ({
  ...{ durationMs: 120_000, unchangedMs, isRenewed },
});

test.each([
  ['renewed', undefined, lease(0), PRESENT],
  ['listed, and not renewed since', undefined, lease(0, false), ARRIVING],
  ['not renewed since it was listed', undefined, lease(120_000, false), LOST],
  ['almost expired', undefined, lease(119_999), PRESENT],
  ['expired', undefined, lease(120_000), LOST],
  ['expired long ago', undefined, lease(720_000), OVER],
  ['not there yet', undefined, { missingMs: 59_999 }, ARRIVING],
  ['missing', undefined, { missingMs: 60_000 }, MISSING],
  ['missing for long', undefined, { missingMs: 660_000 }, { ...MISSING, isOver: true }],
  ['renewed, and its node is not there yet', 59_999, lease(0), PRESENT],
  ['renewed, and its node is gone', 60_000, lease(0), NO_NODE],
  ['missing, and its node too', 60_000, { missingMs: 60_000 }, NO_NODE],
])('a Lease that is %s', (_, nodeMissingMs, seen, state) => {
  expect(agentStateOf({ nodeMissingMs, lease: seen }, TIMES)).toEqual(state);
});

const SPEC = { operationSet: 'set', nodeName: 'web-1' };
const STARTED = '2026-01-02T03:05:00Z';
const RUNNING = { phase: 'Running', startTime: STARTED } as const;
const REPORTED = {
  ...RUNNING,
  conditions: [
    {
      type: 'AgentLost',
      status: 'True',
      reason: 'AgentLost',
      message:
        'The agent of node web-1 does not renew its Lease: the node may be down or cut off, and what runs there is unknown; check the node and its pod of the DaemonSet kubediag-agent',
      lastTransitionTime: STARTED,
    },
  ],
} as const;

/** "Failed AgentLost/AgentLost=True Failed/AgentLost=True" */
function decided(agent: AgentState, status: object = RUNNING, spec: object = {}): string {
  const given = { ...SPEC, ...spec };
  const after = decideLost(given, status, agent, NOW);
  const object = { metadata: { uid: 'u', resourceVersion: '1' }, spec: given, status };
  const isQuiet = JSON.stringify(after) === JSON.stringify(status);
  // What changes must be seen in the digest.
  if (!isQuiet) expect(isConcerned(diagnosisDigest(object), agent, NOW)).toBe(true);
  if (isQuiet) return 'unchanged';
  const conditions = (after.conditions ?? []).map(
    ({ type, reason, status: is }) => `${type}/${reason}=${is}`,
  );
  return [after.phase, ...conditions].join(' ');
}

test.each([
  ['nothing while the agent is there', PRESENT, RUNNING, {}, 'unchanged'],
  ['nothing while it may start', ARRIVING, {}, {}, 'unchanged'],
  ['a lost agent once', LOST, RUNNING, {}, 'Running AgentLost/AgentLost=True'],
  ['the same agent not again', LOST, REPORTED, {}, 'unchanged'],
  ['a missing agent, and its begin', MISSING, {}, {}, 'Pending AgentLost/AgentMissing=True'],
  ['a returned agent', PRESENT, REPORTED, {}, 'Running AgentLost/AgentReturned=False'],
  ['a suspended one too', LOST, RUNNING, { suspend: true }, 'Running AgentLost/AgentLost=True'],
  ['its end', OVER, REPORTED, {}, 'Failed AgentLost/AgentLost=True Failed/AgentLost=True'],
  [
    'its end when nothing was reported before',
    OVER,
    RUNNING,
    {},
    'Failed AgentLost/AgentLost=True Failed/AgentLost=True',
  ],
  [
    'the end without an agent',
    { ...MISSING, isOver: true },
    {},
    {},
    'Failed AgentLost/AgentMissing=True Failed/AgentMissing=True',
  ],
  [
    'the end without a node',
    NO_NODE,
    RUNNING,
    {},
    'Failed AgentLost/AgentLost=True Failed/NodeNotFound=True',
  ],
  [
    'its cancel',
    LOST,
    REPORTED,
    { cancel: true },
    'Failed AgentLost/AgentLost=True Failed/DiagnosisCancelled=True',
  ],
  [
    'its deadline',
    LOST,
    REPORTED,
    { deadlineSeconds: 300 },
    'Failed AgentLost/AgentLost=True Failed/DeadlineExceeded=True',
  ],
  ['no deadline before its time', LOST, REPORTED, { deadlineSeconds: 301 }, 'unchanged'],
  ['no cancel where the agent does it', PRESENT, RUNNING, { cancel: true }, 'unchanged'],
])('reports %s', (_, agent, status, spec, expected) => {
  expect(decided(agent, status, spec)).toBe(expected);
});

test.each([PRESENT, ARRIVING, LOST])('reads nothing again while nothing changes: %o', (agent) => {
  const status = agent === LOST ? REPORTED : RUNNING;
  const object = { metadata: { uid: 'u' }, spec: SPEC, status };
  expect(isConcerned(diagnosisDigest(object), agent, NOW)).toBe(false);
});
