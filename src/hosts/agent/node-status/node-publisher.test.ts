import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { SyntheticApiServer } from '../../../../test/synthetic-api-server.ts';
import {
  type CheckPart,
  checkOf,
  finding,
  unknown,
} from '../../../../test/synthetic-node-check.ts';
import { fieldAt } from '../../../lib/std/json.ts';
import type { CheckedFinding } from '../../../pipeline/channel/node-check.ts';
import { metricsText } from '../../web/metrics.ts';
import type { FaultEvent } from './fault-events.ts';
import { HEARTBEAT_MS, SILENT_MS } from './limits.ts';
import { NodeObjects } from './node-objects.ts';
import { NodePublisher } from './node-publisher.ts';

const NODE = '/api/v1/nodes/web-3';
const REPORT = '/apis/diagnosis.kubediag.org/v1/nodereports/web-3';
const READY = { type: 'Ready', status: 'True' };

const stops: AbortController[] = [];

beforeEach(() => {
  vi.useFakeTimers({ now: new Date('2026-11-16T10:00:00Z') });
});
afterEach(() => {
  for (const stop of stops.splice(0)) stop.abort();
  vi.useRealTimers();
});

function apiServer(): SyntheticApiServer {
  const server = new SyntheticApiServer();
  server.objects.set(NODE, {
    metadata: { name: 'web-3', uid: 'n1' },
    status: { conditions: [READY] },
  });
  return server;
}

/** An agent that publishes to this server, and a function that makes a check of these parts. */
function startAgent(server: SyntheticApiServer) {
  const stopping = new AbortController();
  stops.push(stopping);
  const events: string[] = [];
  const errors: string[] = [];
  const publisher = new NodePublisher({
    objects: new NodeObjects(server, 'web-3'),
    recordEvent: async ({ reason, pod }: FaultEvent, nodeUid: string) => {
      await server.request({
        method: 'POST',
        path: '/events',
        body: { metadata: { name: `${events.length} ${Date.now()}` } },
      });
      events.push(`${reason} ${pod?.name ?? nodeUid}`);
    },
    onError: (message) => void errors.push(message),
    stop: stopping.signal,
  });
  const running = publisher.run();
  const check = async (...parts: readonly CheckPart[]) => {
    publisher.take({ ...checkOf(...parts), time: new Date().toISOString() });
    await vi.advanceTimersByTimeAsync(5_000);
  };
  const end = async () => {
    stopping.abort();
    await running;
  };
  return { publisher, events, errors, check, end };
}

const condition = (server: SyntheticApiServer) => server.condition(NODE, 'NodeFault');
const report = (server: SyntheticApiServer) => server.objects.get(REPORT)?.status;

describe('an agent', () => {
  test('publishes a fault at once, and its end', async () => {
    const server = apiServer();
    const { check, events } = startAgent(server);
    await check(finding());
    expect(condition(server)).toEqual({
      type: 'NodeFault',
      status: 'True',
      reason: 'StaleSubpathMount',
      message: expect.stringMatching(
        /^Container app of pod web-0 cannot start[.] What to do: create /,
      ),
      lastTransitionTime: '2026-11-16T10:00:00.000Z',
      lastHeartbeatTime: '2026-11-16T10:00:00.000Z',
    });
    expect(server.condition(NODE, 'Ready')).toEqual(READY);
    expect(server.objects.get(REPORT)).toMatchObject({
      metadata: {
        name: 'web-3',
        ...{ ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'web-3', uid: 'n1' }] },
      },
      status: { state: 'active', findings: [{ id: 'a1' }] },
    });
    await check();
    expect(condition(server)).toMatchObject({ status: 'True' });
    await check();
    expect(condition(server)).toMatchObject({
      status: 'False',
      reason: 'NoFaultFound',
      message: 'None of the 2 known faults is on this node.',
      lastTransitionTime: '2026-11-16T10:00:10.000Z',
    });
    expect(report(server)).toMatchObject({ state: 'clear', findings: [] });
    expect(events).toEqual([
      ...['StaleSubpathMount n1', 'StaleSubpathMount web-0'],
      ...['StaleSubpathMountCleared n1', 'StaleSubpathMountCleared web-0'],
    ]);
  });

  test('writes what does not change only as a heartbeat', async () => {
    const server = apiServer();
    const { check } = startAgent(server);
    await check(finding());
    const written = server.writes.length;
    for (let seconds = 5; seconds < HEARTBEAT_MS / 1_000; seconds += 5) await check(finding());
    expect(server.writes).toHaveLength(written);
    await check(finding());
    await check(finding());
    expect(server.writes.slice(written).toSorted()).toEqual([
      `PATCH ${NODE}/status`,
      `PATCH ${REPORT}/status`,
    ]);
    expect(condition(server)).toMatchObject({
      lastTransitionTime: '2026-11-16T10:00:00.000Z',
      lastHeartbeatTime: expect.stringMatching(/^2026-11-16T10:05:/),
    });
  });

  test('publishes the newest state when the API server is back, and every Event once', async () => {
    const server = apiServer();
    const { check, events, errors } = startAgent(server);
    await check();
    server.isDown = true;
    await check(finding());
    await check(finding(), finding({ id: 'b2', fault: 'dead-volume-mount', state: 'damaged' }));
    await vi.advanceTimersByTimeAsync(100_000);
    expect(errors.length).toBeGreaterThan(2);
    server.isDown = false;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(condition(server)).toMatchObject({ status: 'True', reason: 'DeadVolumeMount' });
    expect(report(server)).toMatchObject({ counts: { findings: 2 } });
    expect(events.toSorted()).toEqual([
      ...['DeadVolumeMount n1', 'DeadVolumeMount web-0'],
      ...['StaleSubpathMount n1', 'StaleSubpathMount web-0'],
    ]);
  });

  test('leaves True while another fault is unknown, until a complete check', async () => {
    const server = apiServer();
    const { check } = startAgent(server);
    const other = unknown({ fault: 'dead-volume-mount' });
    await check(finding());
    await check();
    await check(other);
    expect(condition(server)).toMatchObject({ status: 'True' });
    expect(report(server)).toMatchObject({ state: 'active' });
    await check();
    expect(condition(server)).toMatchObject({ status: 'False' });
    expect(report(server)).toMatchObject({ state: 'clear' });
  });

  test('takes over a condition without a time', async () => {
    const server = apiServer();
    const ours = { type: 'NodeFault', status: 'True', reason: 'StaleSubpathMount' };
    server.objects.set(NODE, {
      metadata: { name: 'web-3', uid: 'n1' },
      status: { conditions: [READY, ours] },
    });
    await startAgent(server).check(finding());
    const lastTransitionTime = '2026-11-16T10:00:00.000Z';
    expect(condition(server)).toMatchObject({ ...ours, lastTransitionTime });
  });

  test('starts while the API server is away', async () => {
    const server = apiServer();
    server.isDown = true;
    const { check } = startAgent(server);
    await check(finding());
    server.isDown = false;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(condition(server)).toMatchObject({ status: 'True' });
  });

  test('that is started again continues where the last one ended', async () => {
    const server = apiServer();
    const first = startAgent(server);
    await first.check(finding());
    await first.end();
    await vi.advanceTimersByTimeAsync(30_000);
    const second = startAgent(server);
    await second.check();
    expect(condition(server)).toMatchObject({ status: 'True' });
    await second.check(finding());
    expect(second.events).toEqual([]);
    expect(condition(server)).toMatchObject({
      status: 'True',
      lastTransitionTime: '2026-11-16T10:00:00.000Z',
    });
    const found = server.objects.get(REPORT)?.status as { findings: readonly CheckedFinding[] };
    expect(found.findings).toMatchObject([{ since: '2026-11-16T10:00:00.000Z' }]);
    await second.check();
    await second.check();
    expect(second.events).toEqual([
      'StaleSubpathMountCleared n1',
      'StaleSubpathMountCleared web-0',
    ]);
  });

  test('says that the state is unknown when the executor is silent', async () => {
    const server = apiServer();
    const { check, publisher } = startAgent(server);
    await check(finding());
    await vi.advanceTimersByTimeAsync(SILENT_MS - 10_000);
    expect(condition(server)).toMatchObject({ status: 'True' });
    await vi.advanceTimersByTimeAsync(10_000);
    expect(condition(server)).toMatchObject({
      status: 'Unknown',
      reason: 'ExecutorSilent',
      message: 'The executor on this node has sent no check for 3m. See the logs of its container.',
    });
    expect(report(server)).toMatchObject({ state: 'unknown', findings: [{ id: 'a1' }] });
    await check(finding());
    expect(condition(server)).toMatchObject({ status: 'True' });
    expect(report(server)).toMatchObject({ state: 'active' });
    expect(metricsText(publisher.metrics.all())).toContain(
      'kubediag_node_check_duration_seconds_count 2',
    );
  });

  test('counts the first check after a silence, also one that could not judge a fault', async () => {
    const server = apiServer();
    const { check } = startAgent(server);
    await check();
    await vi.advanceTimersByTimeAsync(SILENT_MS);
    expect(condition(server)).toMatchObject({ reason: 'ExecutorSilent' });
    expect(report(server)).toMatchObject({ state: 'unknown' });
    await check(unknown());
    expect(condition(server)).toMatchObject({ status: 'Unknown', reason: 'CheckIncomplete' });
    await vi.advanceTimersByTimeAsync(SILENT_MS);
    await check();
    expect(condition(server)).toMatchObject({ status: 'False' });
    expect(report(server)).toMatchObject({ state: 'clear' });
  });

  test('has heartbeats while no check decides anything', async () => {
    const server = apiServer();
    const { check } = startAgent(server);
    for (let at = 0; at < 3; at += 1) await check(unknown());
    expect(condition(server)).toMatchObject({ reason: 'CheckIncomplete' });
    const written = server.writes.length;
    for (let at = 0; at < HEARTBEAT_MS / 10_000; at += 1) {
      await check();
      await check(unknown());
    }
    expect(server.writes.slice(written)).toEqual([`PATCH ${NODE}/status`]);
    expect(condition(server)).toMatchObject({
      reason: 'CheckIncomplete',
      lastHeartbeatTime: expect.stringMatching(/^2026-11-16T10:05:/),
    });
  });

  test('does not take a check twice for two', async () => {
    const server = apiServer();
    const { check, publisher } = startAgent(server);
    await check(finding());
    const clear = { ...checkOf(), time: '2026-11-16T10:00:07Z' };
    for (let sent = 0; sent < 3; sent += 1) publisher.take(clear);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(condition(server)).toMatchObject({ status: 'True' });
  });

  test('writes the rest when one object is forbidden', async () => {
    const server = apiServer();
    server.forbidden = '/nodes/web-3/status';
    const { check, errors } = startAgent(server);
    await check(finding());
    expect(report(server)).toMatchObject({ state: 'active' });
    expect(errors).toEqual([`${NODE}/status: forbidden`]);
    server.forbidden = ' ';
    await vi.advanceTimersByTimeAsync(60_000);
    expect(condition(server)).toMatchObject({ status: 'True' });
  });

  test('creates the report again when somebody has deleted it', async () => {
    const server = apiServer();
    const { check } = startAgent(server);
    await check(finding());
    server.objects.delete(REPORT);
    await check(finding(), finding({ id: 'b2' }));
    expect(report(server)).toMatchObject({ counts: { findings: 2 } });
  });
});

describe('when the Node is deleted and created again', () => {
  const owner = (server: SyntheticApiServer) => fieldAt(server.objects.get(REPORT), 'metadata');
  const owned = (uid: string) => ({ ownerReferences: [{ kind: 'Node', name: 'web-3', uid }] });

  function createNodeAgain(server: SyntheticApiServer): void {
    const metadata = { name: 'web-3', uid: 'n2' };
    server.objects.set(NODE, { metadata, status: { conditions: [READY] } });
  }

  test('the next heartbeat writes condition and report anew, for the new Node', async () => {
    const server = apiServer();
    const { check, events } = startAgent(server);
    await check(finding());
    createNodeAgain(server);
    server.objects.delete(REPORT);
    for (let passed = 0; passed < HEARTBEAT_MS; passed += 5_000) await check(finding());
    expect(condition(server)).toMatchObject({ status: 'True' });
    expect(owner(server)).toMatchObject(owned('n2'));
    await check(finding(), finding({ id: 'b2', fault: 'dead-volume-mount', state: 'damaged' }));
    expect(events.at(-2)).toBe('DeadVolumeMount n2');
  });

  test('a report that is not deleted yet gets the new Node as its owner', async () => {
    const server = apiServer();
    const { check, events } = startAgent(server);
    await check(finding());
    createNodeAgain(server);
    const written = server.writes.length;
    await check(finding(), finding({ id: 'b2', fault: 'dead-volume-mount', state: 'damaged' }));
    expect(events.at(-2)).toBe('DeadVolumeMount n2');
    expect(owner(server)).toMatchObject(owned('n2'));
    expect(report(server)).toMatchObject({ counts: { findings: 2 } });
    expect(server.writes.slice(written)).toContain(`PATCH ${REPORT}`);
    await check(finding());
    expect(server.writes.filter((each) => each === `PATCH ${REPORT}`)).toHaveLength(1);
  });

  test('a report that already has the new Node as its owner retains it', async () => {
    const server = apiServer();
    server.forbidden = '/nodes/web-3/status';
    const { check } = startAgent(server);
    await check(finding());
    createNodeAgain(server);
    server.objects.set(REPORT, { metadata: { name: 'web-3', ...owned('n2') } });
    await check(finding(), finding({ id: 'b2' }));
    expect(owner(server)).toMatchObject(owned('n2'));
    expect(server.writes).not.toContain(`PATCH ${REPORT}`);
  });
});

test('metrics count findings and unknowns by fault', async () => {
  const { check, publisher } = startAgent(apiServer());
  await check(
    finding(),
    finding({ id: 'b2', state: 'latent' }),
    unknown({ fault: 'dead-volume-mount' }),
  );
  const text = metricsText(publisher.metrics.all());
  expect(text.split('\n').filter((line) => !/^#|_bucket/.test(line))).toEqual([
    'kubediag_node_check_duration_seconds_sum 0.25',
    'kubediag_node_check_duration_seconds_count 1',
    'kubediag_node_findings{fault="stale-subpath-mount",state="damaged"} 0',
    'kubediag_node_findings{fault="stale-subpath-mount",state="active"} 1',
    'kubediag_node_findings{fault="stale-subpath-mount",state="latent"} 1',
    'kubediag_node_findings{fault="dead-volume-mount",state="damaged"} 0',
    'kubediag_node_findings{fault="dead-volume-mount",state="active"} 0',
    'kubediag_node_findings{fault="dead-volume-mount",state="latent"} 0',
    'kubediag_node_unknowns{fault="stale-subpath-mount"} 0',
    'kubediag_node_unknowns{fault="dead-volume-mount"} 1',
    'kubediag_node_last_check_timestamp_seconds 1794823200',
    '',
  ]);
  expect(text).toContain('kubediag_node_check_duration_seconds_bucket{le="0.1"} 0\n');
  expect(text).toContain('kubediag_node_check_duration_seconds_bucket{le="0.25"} 1\n');
  expect(text).toContain('kubediag_node_check_duration_seconds_bucket{le="+Inf"} 1\n');
});
