import { expect, test } from 'vitest';
import { nodes } from '../../../../test/faults/runtime-not-responding.ts';
import { type NodeMaker, nodeNamed } from '../../../../test/synthetic-node.ts';
import { addUnit, INIT, PAUSE, process } from '../../../../test/synthetic-stopped-worker.ts';
import { takeSnapshot } from '../../checkup/take-snapshot.ts';
import { runtimeService } from './runtime-service.ts';

const fixture = (name: string) => nodeNamed(name, nodes());
const collect = (maker: NodeMaker) =>
  takeSnapshot(maker.build(), maker.settings).of(runtimeService);

function withUnit(name: string, unit: Readonly<Record<string, string>>): NodeMaker {
  const maker = fixture(name);
  const loaded = { Id: 'containerd.service', LoadState: 'loaded', Result: 'success', ...unit };
  addUnit(maker, ['containerd.service'], ['containerd'], { unit: loaded });
  return maker;
}

test.each([
  ['starts, and its process has run for long', 'activating', 'start', 'active-hangs', 'silent'],
  ['starts, and has no process', 'activating', 'start', 'active-killed', 'uncertain'],
  ['stops', 'deactivating', 'stop-sigterm', 'active-hangs', 'uncertain'],
  ['runs', 'active', 'running', 'active-hangs', 'silent'],
])('a runtime whose unit %s', async (_, ActiveState, SubState, name, state) => {
  expect((await collect(withUnit(name, { ActiveState, SubState }))).state).toBe(state);
});

test.each([
  ['2', 'uncertain'],
  ['3', 'silent'],
])('after %s restarts, one that systemd starts again is %s', async (NRestarts, state) => {
  const unit = { ActiveState: 'activating', SubState: 'auto-restart', NRestarts };
  expect((await collect(withUnit('active-killed', unit))).state).toBe(state);
});

test('a process that has ended and was not reaped is not the runtime', async () => {
  const maker = fixture('active-killed');
  const ended = process(640, 'containerd', '/system.slice/containerd.service', 'Z');
  const answer = [INIT, PAUSE, ended];
  maker.set('processes', { all: 'processes' }, { answer });
  expect(await collect(maker)).toMatchObject({ state: 'silent', processes: [], livePods: 1 });
});

test('a missing socket is a fault if pods run, or have directories', async () => {
  const maker = fixture('unclear-socket-gone-without-pods');
  expect((await collect(maker)).state).toBe('uncertain');
  maker.folder('/proc/812/root/var/lib/kubelet/pods', ['u1']);
  const found = { state: 'silent', how: 'missing', livePods: 0, namedBy: expect.any(String) };
  expect(await collect(maker)).toMatchObject(found);
});

test('a socket that is the same file under another path is that of the kubelet', async () => {
  const maker = fixture('unclear-stale-endpoint');
  expect((await collect(maker)).state).toBe('uncertain');
  const status = { type: 'socket', mode: 0o660, owner: 0, device: '0:26', inode: '9' } as const;
  const answer = { ...status, links: 1, sizeBytes: 0, modifiedMs: 0 };
  const own = { path: '/proc/812/root/run/containerd/containerd.sock' };
  maker.set('status', { path: '/run/crio/crio.sock' }, { answer }).set('status', own, { answer });
  const other = await collect(maker);
  expect(other).not.toMatchObject({ why: expect.stringContaining('--runtime-endpoint names') });
  for (const changed of [{ device: '0:27' }, { inode: '10' }]) {
    maker.set('status', own, { answer: { ...answer, ...changed } });
    const why = expect.stringContaining('--runtime-endpoint names /run/crio/crio.sock');
    expect(await collect(maker)).toEqual({ state: 'uncertain', why });
  }
});
