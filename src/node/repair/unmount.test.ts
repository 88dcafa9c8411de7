import { describe, expect, test } from 'vitest';
import {
  ACTION,
  INTENT,
  KUBELET_PID,
  OTHER_LINE,
  PAYLOAD,
  ROOT_LINE,
  SOCKET,
  STALE_LINE,
  SyntheticRepair,
  statusOf,
  TARGET,
} from '../../../test/synthetic-repair.ts';
import type { ReadFailure } from '../model/node-reader.ts';
import { perform } from './perform.ts';

const umount = `nsenter --target ${KUBELET_PID} --mount -- umount --no-canonicalize ${TARGET}`;

async function outcomeOf(fixture: SyntheticRepair, action = ACTION) {
  const { outcome, entry } = await perform({ ...INTENT, action }, fixture.repair);
  return { outcome, entry };
}

/** Refused, and nothing was journaled or done. */
async function objectionTo(fixture: SyntheticRepair, action = ACTION) {
  const { outcome, entry } = await outcomeOf(fixture, action);
  expect(fixture.log).toEqual([]);
  expect(entry).toBeUndefined();
  expect(outcome.state).toBe('refused');
  if (outcome.state !== 'refused') throw new Error('unreachable');
  for (const part of [outcome.what, outcome.why, outcome.todo]) expect(part).not.toBe('');
  return outcome;
}

test('unmounts the stale mount in the namespace of the kubelet', async () => {
  const fixture = new SyntheticRepair();
  expect(await outcomeOf(fixture)).toEqual({ outcome: { state: 'done' }, entry: 1 });
  expect(fixture.log).toEqual(['intend', `unmount ${TARGET} in ${KUBELET_PID}`, 'done']);
  expect(fixture.lines).toEqual([ROOT_LINE, OTHER_LINE]);
});

/** Gives the node one container of the mount. */
function addContainer(fixture: SyntheticRepair, id: string, state: string, message = ''): void {
  const labels = {
    'io.kubernetes.pod.uid': '6f1c2a9e',
    'io.kubernetes.pod.name': 'web-0',
    'io.kubernetes.pod.namespace': 'shop',
    'io.kubernetes.container.name': 'web',
  };
  const listed = { id, metadata: { name: 'web', attempt: 1 }, labels, state, createdAt: '1' };
  const status = { ...listed, state: message ? 'CONTAINER_EXITED' : state, exitCode: 0, message };
  fixture.runtimeWith({ listed, status });
}

test.each(['timeout', 'failed', 'denied'] as const)(
  'refuses if the runtime cannot say whether the container is being started: %s',
  async (failure) => {
    const fixture = new SyntheticRepair();
    fixture.node.set('runtime', { socket: SOCKET, call: 'ListContainers' }, { failure });
    expect((await objectionTo(fixture)).what).toContain('whether the container is being started');
    const late = new SyntheticRepair();
    addContainer(late, 'b2', 'CONTAINER_CREATED');
    const asked = { socket: SOCKET, call: 'ContainerStatus', id: 'b2' } as const;
    late.node.set('runtime', asked, { failure });
    expect((await objectionTo(late)).what).toBe('the container is being started at this moment');
  },
);

test('refuses while the container is being started: it would get the empty file below the mount', async () => {
  const fixture = new SyntheticRepair();
  addContainer(fixture, 'b2', 'CONTAINER_CREATED');
  const { what, why } = await objectionTo(fixture);
  expect(what).toBe('the container is being started at this moment');
  expect(why).toBe('container web was created and does not run yet');
  // As dockershim lists one that could not be started.
  const failed = new SyntheticRepair();
  addContainer(failed, 'b2', 'CONTAINER_CREATED', 'no such file or directory');
  expect((await outcomeOf(failed)).outcome).toEqual({ state: 'done' });
});

test('is not done when a container was started meanwhile, unless the kubelet has made a new mount', async () => {
  const raced = new SyntheticRepair();
  addContainer(raced, 'b2', 'CONTAINER_EXITED');
  raced.inAct = () => addContainer(raced, 'c3', 'CONTAINER_RUNNING');
  expect((await outcomeOf(raced)).outcome).toMatchObject({
    state: 'no-effect',
    what: expect.stringContaining('shop/web-0 was started at the same moment'),
  });

  const later = new SyntheticRepair();
  addContainer(later, 'b2', 'CONTAINER_EXITED');
  later.inAct = () => {
    addContainer(later, 'c3', 'CONTAINER_RUNNING');
    later.lines.unshift(STALE_LINE.replace('216 22', '230 22').replace('//deleted', ''));
  };
  expect((await outcomeOf(later)).outcome).toEqual({ state: 'done' });

  const same = new SyntheticRepair();
  addContainer(same, 'b2', 'CONTAINER_EXITED');
  expect((await outcomeOf(same)).outcome).toEqual({ state: 'done' });
});

test('is done when the start of a container meanwhile has failed: its next start gets a new mount', async () => {
  const ended = new SyntheticRepair();
  addContainer(ended, 'b2', 'CONTAINER_EXITED');
  ended.inAct = () => addContainer(ended, 'c3', 'CONTAINER_EXITED', 'no such file or directory');
  expect((await outcomeOf(ended)).outcome).toEqual({ state: 'done' });

  // The list shows it before the start fails.
  const failing = new SyntheticRepair();
  addContainer(failing, 'b2', 'CONTAINER_EXITED');
  failing.inAct = () =>
    addContainer(failing, 'c3', 'CONTAINER_CREATED', 'no such file or directory');
  expect((await outcomeOf(failing)).outcome).toEqual({ state: 'done' });
});

test('what the unmount has to say is in the outcome', async () => {
  const fixture = new SyntheticRepair();
  fixture.result = { state: 'did', note: 'the table changed meanwhile' };
  const { outcome } = await outcomeOf(fixture);
  expect(outcome).toEqual({ state: 'done', note: 'the table changed meanwhile' });
});

test('a mount that is gone already needs nothing, and is no error', async () => {
  const fixture = new SyntheticRepair();
  fixture.lines = [ROOT_LINE, OTHER_LINE];
  const note = 'nothing to do: the mount is gone already';
  expect(await outcomeOf(fixture)).toEqual({ outcome: { state: 'done', note } });
  expect(fixture.log).toEqual([]);
});

test('refuses while root unmounts this very mount already, and only then', async () => {
  const fixture = new SyntheticRepair();
  const others = [`${TARGET}0`, '/mnt'].map((path) => `umount\0--no-canonicalize\0${path}\0`);
  fixture.node
    .folder('/proc', ['70', '71', '72', '73', '74'])
    .file('/proc/70/comm', 'umount\n')
    .file('/proc/70/cmdline', others[0] ?? '')
    .file('/proc/71/comm', 'umount\n')
    .file('/proc/71/cmdline', others[1] ?? '')
    .file('/proc/72/comm', 'sleep\n')
    .file('/proc/70/status', 'Uid:\t0\t0\t0\t0\n')
    .file('/proc/71/status', 'Uid:\t0\t0\t0\t0\n')
    .file('/proc/74/comm', 'umount\n')
    .file('/proc/74/status', 'Uid:\t65534\t65534\t65534\t65534\n')
    .file('/proc/74/cmdline', `umount\0${TARGET}\0`)
    .missing('file', '/proc/73/comm');
  expect((await outcomeOf(fixture)).outcome.state).toBe('done');

  const late = new SyntheticRepair();
  late.node
    .folder('/proc', ['70'])
    .file('/proc/70/comm', 'umount\n')
    .file('/proc/70/status', 'Uid:\t0\t0\t0\t0\n')
    .file('/proc/70/cmdline', `/usr/bin/umount\0--no-canonicalize\0${TARGET}\0`);
  const { what, why } = await objectionTo(late);
  expect(what).toContain('being unmounted already');
  expect(why).toContain('process 70');
  // In a namespace of its own the path begins with a descriptor, and umount is nsenter at first.
  late.node
    .file('/proc/70/comm', 'nsenter\n')
    .file('/proc/70/cmdline', `nsenter\0--\0/usr/bin/umount\0/proc/self/fd/4${TARGET}\0`);
  expect((await objectionTo(late)).why).toContain('process 70');
});

const UMOUNT = {
  comm: 'umount\n',
  status: 'Uid:\t0\t0\t0\t0\n',
  cmdline: `umount\0${TARGET}\0`,
};

/** A process that unmounts the target; one of its files cannot be read. */
function withUnreadableUmount(name: keyof typeof UMOUNT, failure: ReadFailure): SyntheticRepair {
  const fixture = new SyntheticRepair();
  fixture.node.folder('/proc', ['70']);
  for (const [each, text] of Object.entries(UMOUNT)) fixture.node.file(`/proc/70/${each}`, text);
  fixture.node.set('file', { path: `/proc/70/${name}` }, { failure });
  return fixture;
}

describe.each(['comm', 'status', 'cmdline'] as const)('%s of a process', (name) => {
  test.each(['timeout', 'denied', 'too-large'] as const)(
    'that cannot be read may be of one that unmounts it: %s',
    async (failure) => {
      const { what, why } = await objectionTo(withUnreadableUmount(name, failure));
      expect(what).toBe('the node could not be checked again');
      expect(why).toContain(`/proc/70/${name}: `);
    },
  );

  test('that is missing is of one that has ended', async () => {
    const { outcome } = await outcomeOf(withUnreadableUmount(name, 'missing'));
    expect(outcome.state).toBe('done');
  });
});

test('a mount that changed between the second check and the unmount is left alone', async () => {
  const fixture = new SyntheticRepair();
  fixture.result = {
    state: 'changed',
    what: 'the mount changed since it was diagnosed',
    why: 'table',
  };
  fixture.inAct = () => {
    fixture.lines = [ROOT_LINE, STALE_LINE.replace('//deleted', '')];
  };
  const { outcome } = await outcomeOf(fixture);
  expect(outcome).toMatchObject({ state: 'refused', what: fixture.result.what, why: 'table' });
  expect(fixture.log.at(-1)).toBe('refused');
});

test('an unmount that took another mount has failed, though the pinned one is gone', async () => {
  const fixture = new SyntheticRepair();
  fixture.result = { state: 'hit-another', why: 'mount 216 was seen, and is gone' };
  fixture.inAct = () => {
    fixture.lines = [ROOT_LINE, OTHER_LINE];
  };
  const { outcome } = await outcomeOf(fixture);
  expect(outcome).toEqual({
    state: 'failed',
    what: 'another mount was unmounted than the one that was diagnosed',
    why: fixture.result.why,
    todo: expect.stringContaining('restart the container'),
  });
});

test.each([
  ['outside the kubelet root', '/mnt/pods/6f1c2a9e/volume-subpaths/settings/web/1'],
  ['not below volume-subpaths', '/var/lib/kubelet/pods/6f1c2a9e/volumes/settings/web/1'],
  ['deeper than a subPath mount', `${TARGET}/1`],
  ['without an index', '/var/lib/kubelet/pods/6f1c2a9e/volume-subpaths/settings/web/x'],
  ['not in UTF-8', `/var/lib/kubelet/pods/6f1c2a9e/volume-subpaths/set\udcfftings/web/1`],
])('refuses a target that is %s', async (_, target) => {
  const fixture = new SyntheticRepair();
  fixture.lines = [ROOT_LINE, STALE_LINE.replace(TARGET, target)];
  const { what } = await objectionTo(fixture, { ...ACTION, target });
  expect(what).toContain('is not a subPath mount of the kubelet');
});

test.each([
  ['id', STALE_LINE.replace('216 22', '300 22')],
  ['parent', STALE_LINE.replace('216 22', '216 23')],
  ['device', STALE_LINE.replace('254:1', '254:2')],
  ['root', STALE_LINE.replace('nginx.log//', 'other.log//')],
  ['source that exists again', STALE_LINE.replace('//deleted', '')],
])('refuses a mount with another %s than the one diagnosed', async (_, line) => {
  const fixture = new SyntheticRepair();
  fixture.lines = [ROOT_LINE, line];
  const { what, why } = await objectionTo(fixture);
  expect(what).toBe('the mount changed since it was diagnosed');
  expect(why).toBe(`/proc/${KUBELET_PID}/mountinfo now shows ${line}`);
});

test.each([
  ['stacked on the same target', `300 216 254:1 /x ${TARGET} rw - ext4 /dev/vda1 rw`],
  ['on the same target, beside it', `300 22 254:1 /x ${TARGET} rw - ext4 /dev/vda1 rw`],
  ['inside it', `300 216 0:40 / ${TARGET}/inside rw - tmpfs tmpfs rw`],
  ['over its parent directory', '300 22 0:40 / /var/lib/kubelet/pods rw - tmpfs tmpfs rw'],
])('refuses when another mount lies %s', async (_, line) => {
  const fixture = new SyntheticRepair();
  fixture.lines.push(line);
  const { what, why, manual } = await objectionTo(fixture);
  expect(what).toBe('another mount lies over this one');
  expect(why).toContain(line);
  // We cannot know its owner, so there is no advice to remove it.
  expect(manual).toBeUndefined();
});

test('a mount that ours stands on does not hide it', async () => {
  const fixture = new SyntheticRepair();
  const kubeletLine = '40 22 254:9 / /var/lib/kubelet rw - xfs /dev/vdb rw';
  const root = `${PAYLOAD}/nginx.log`.replace('/var/lib/kubelet', '');
  fixture.lines = [
    ROOT_LINE,
    kubeletLine,
    `216 40 254:9 ${root}//deleted ${TARGET} rw - xfs /dev/vdb rw`,
  ];
  const action = { ...ACTION, parent: 40, device: '254:9', root };
  expect(await outcomeOf(fixture, action)).toMatchObject({ outcome: { state: 'done' } });
});

test.each(['kubernetes.io~empty-dir', 'kubernetes.io~csi', 'kubernetes.io~local-volume'])(
  'refuses what may be the last copy of the data: %s',
  async (plugin) => {
    const fixture = new SyntheticRepair();
    const root = ACTION.root.replace('kubernetes.io~configmap', plugin);
    fixture.lines = [ROOT_LINE, STALE_LINE.replace('kubernetes.io~configmap', plugin)];
    const { what, why, manual } = await objectionTo(fixture, { ...ACTION, root });
    expect(what).toBe('the mount may hold the last copy of its data');
    expect(why).toContain(plugin.split('~')[1]);
    expect(manual?.commands).toEqual([
      `nsenter --target ${KUBELET_PID} --mount -- cp --archive --sparse=always ${TARGET} ` +
        '/root/kubediag-rescue-settings-web-1',
    ]);
    expect(manual?.risk).toContain('lost');
  },
);

test('refuses a path that leads through a symbolic link', async () => {
  const fixture = new SyntheticRepair();
  const path = `/proc/${KUBELET_PID}/root/var/lib/kubelet/pods/6f1c2a9e/volume-subpaths`;
  fixture.node.set('status', { path }, { answer: statusOf('link') });
  const { what, why } = await objectionTo(fixture);
  expect(what).toBe('the path of the mount leads elsewhere');
  expect(why).toContain('volume-subpaths is a link');
});

test('refuses when the kubelet lives in a root directory of its own', async () => {
  const fixture = new SyntheticRepair();
  fixture.node.link(`/proc/${KUBELET_PID}/root`, '/rootfs');
  const { why } = await objectionTo(fixture);
  expect(why).toContain('/rootfs');
});

test('refuses when we cannot act, with the manual steps', async () => {
  const fixture = new SyntheticRepair();
  fixture.blocked = "/bin/umount is BusyBox's, which has no --no-canonicalize";
  const { why, manual } = await objectionTo(fixture);
  expect(why).toContain('BusyBox');
  expect(manual?.commands).toEqual([umount]);
  expect(manual?.risk).toContain('never add -f or -l');
});

test('quotes a path that a shell would take apart', async () => {
  const fixture = new SyntheticRepair();
  const target = TARGET.replace('settings', "it's $(here)");
  fixture.lines = [ROOT_LINE, STALE_LINE.replace(TARGET, target.replaceAll(' ', '\\040'))];
  const { manual } = await objectionTo(fixture, { ...ACTION, target });
  expect(manual?.commands.at(-1)).toContain("volume-subpaths/it'\\''s $(here)/web/1'");
});

test('a busy mount is a failure that names who holds it, and is never forced', async () => {
  const fixture = new SyntheticRepair();
  fixture.result = { state: 'busy', why: `umount: ${TARGET}: target is busy.` };
  fixture.node
    .folder('/proc', ['1', '812', '77', '78', '79', '80', 'self', 'meminfo'])
    .link('/proc/77/ns/mnt', 'mnt:[4026531841]')
    .link('/proc/77/cwd', '/')
    .folder('/proc/77/fd', ['0', '5'])
    .link('/proc/77/fd/0', '/dev/null')
    .link('/proc/77/fd/5', `${TARGET} (deleted)`)
    .file('/proc/77/comm', 'tail\n')
    // The same path in another mount namespace is another mount.
    .link('/proc/78/ns/mnt', 'mnt:[4026539999]')
    .link('/proc/78/cwd', TARGET)
    .file('/proc/78/comm', 'sh\n')
    .file('/proc/79/comm', 'sh\n')
    .link('/proc/79/ns/mnt', 'mnt:[4026531841]')
    .link('/proc/79/cwd', `${TARGET}0`)
    .file('/proc/80/comm', 'java\n')
    .link('/proc/80/ns/mnt', 'mnt:[4026531841]')
    .file('/proc/80/maps', `7f1c-7f1d r--s 0 fe:01 131 ${TARGET} (deleted)\n`);
  const { outcome } = await outcomeOf(fixture);
  expect(outcome).toMatchObject({
    state: 'failed',
    what: 'the mount is in use, and is not taken away by force',
    why: 'the kernel calls it busy; held by tail (pid 77, fd/5), java (pid 80, maps)',
  });
  expect(outcome).not.toHaveProperty('manual');
  expect(fixture.log.at(-1)).toBe('failed');
});

test('a busy mount that no process is seen to hold says so', async () => {
  const fixture = new SyntheticRepair();
  fixture.result = { state: 'busy', why: 'target is busy' };
  const { outcome } = await outcomeOf(fixture);
  expect(outcome).toMatchObject({
    state: 'failed',
    why: expect.stringMatching(/^the kernel calls it busy; no process was seen that holds it/),
  });
});

test('an unmount that failed because the mount had just gone is done', async () => {
  const fixture = new SyntheticRepair();
  fixture.result = { state: 'failed', why: 'umount ended with code 32: not mounted.' };
  fixture.inAct = () => {
    fixture.lines = [ROOT_LINE, OTHER_LINE];
  };
  const { outcome } = await outcomeOf(fixture);
  expect(outcome).toEqual({
    state: 'done',
    note: 'the action itself reported: umount ended with code 32: not mounted.',
  });
});

test('an unmount that does not end has failed, whatever is seen meanwhile', async () => {
  const fixture = new SyntheticRepair();
  fixture.result = { state: 'unending', why: 'umount cannot be ended: process 4711' };
  fixture.inAct = () => {
    fixture.lines = [ROOT_LINE, OTHER_LINE];
  };
  const { outcome } = await outcomeOf(fixture);
  expect(outcome).toMatchObject({ state: 'failed', why: fixture.result.why });
});

test('an unmount that says it worked, and did not, has no effect', async () => {
  const fixture = new SyntheticRepair();
  fixture.inAct = () => fixture.lines.push(STALE_LINE);
  fixture.lines = [ROOT_LINE, STALE_LINE];
  const { outcome } = await outcomeOf(fixture);
  expect(outcome).toMatchObject({ state: 'no-effect', what: 'the mount is still there' });
});

test('reports another subPath mount that vanished meanwhile', async () => {
  const fixture = new SyntheticRepair();
  fixture.inAct = () => {
    fixture.lines = [ROOT_LINE, STALE_LINE];
  };
  const { outcome } = await outcomeOf(fixture);
  expect(outcome).toMatchObject({ state: 'done' });
  expect(outcome).toHaveProperty('note', expect.stringContaining('volume-subpaths/settings/web/2'));
});
