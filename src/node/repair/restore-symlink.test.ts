import { expect, test } from 'vitest';
import { makeFolder, makeLink } from '../../../test/synthetic-kubelet.ts';
import type { NodeMaker } from '../../../test/synthetic-node.ts';
import { SyntheticRepair } from '../../../test/synthetic-repair.ts';
import { type SyntheticContainer, syntheticWorker } from '../../../test/synthetic-worker.ts';
import { takeSnapshot } from '../checkup/take-snapshot.ts';
import type { Action } from '../model/action.ts';
import { perform } from './perform.ts';

const ACTION: Action = { kind: 'restore-symlink', path: '/bin', target: 'usr/bin' };
const bare: SyntheticContainer = {
  ...{ id: 'f1', name: 'mqtt', state: 'CONTAINER_EXITED', isUnmanaged: true, logPath: '' },
};

/** A node without /bin; `change` makes it another one than it should be. */
function made(
  change: (maker: NodeMaker) => void = () => {},
  containers: SyntheticContainer[] = [],
  runtimeName = 'containerd',
) {
  const repair = new SyntheticRepair();
  const snapshot = () => {
    const maker = syntheticWorker({ mounts: [], containers, runtimeName }).folder(
      '/proc/812/cwd',
      [],
    );
    makeFolder(maker, '', '/usr/bin/sh', { type: 'link' });
    makeLink(maker, '', '/sbin', 'usr/sbin');
    makeLink(maker, '', '/lib', 'usr/lib');
    const isCreated = repair.result.state === 'did' && repair.log.includes('link /bin -> usr/bin');
    if (!isCreated) maker.missing('status', '/bin');
    change(maker);
    return takeSnapshot(maker.build());
  };
  return {
    made: repair,
    repair: { ...repair.repair, snapshot, permitted: new Set([ACTION.kind]) },
  };
}

async function outcomeOf(around: ReturnType<typeof made>, action = ACTION) {
  const intent = { action, fault: 'container-without-log-path', finding: '3f9a1c' };
  return (await perform(intent, around.repair)).outcome;
}

async function objectionTo(around: ReturnType<typeof made>, action = ACTION) {
  const outcome = await outcomeOf(around, action);
  expect(around.made.log).toEqual([]);
  if (outcome.state !== 'refused') throw new Error(`not refused: ${JSON.stringify(outcome)}`);
  return outcome;
}

test('makes the link when it is gone and nothing deletes it again', async () => {
  const around = made();
  expect(await outcomeOf(around)).toEqual({ state: 'done' });
  expect(around.made.log).toEqual(['intend', 'link /bin -> usr/bin', 'done']);
});

test('a link that is there already needs nothing; anything else is not written over', async () => {
  const there = made((maker) => makeLink(maker, '', '/bin', 'usr/bin'));
  expect(await outcomeOf(there)).toMatchObject({ state: 'done' });
  expect(there.made.log).toEqual([]);
  const other = made((maker) => makeLink(maker, '', '/bin', 'opt/bin'));
  expect((await objectionTo(other)).why).toBe('it is a link to opt/bin');
  const folder = made((maker) => makeFolder(maker, '', '/bin'));
  expect((await objectionTo(folder)).why).toBe('it is a directory');
});

test.each<[string, (maker: NodeMaker) => void]>([
  ['/usr/bin is no directory', (maker) => maker.missing('status', '/usr/bin')],
  [
    'neither /sbin nor /lib is a link into /usr',
    (maker) => {
      makeFolder(maker, '', '/sbin');
      makeLink(maker, '', '/lib', 'elsewhere/lib');
    },
  ],
  [
    'there is neither /usr/bin/sh nor /usr/bin/bash',
    (maker) => maker.missing('status', '/usr/bin/sh').missing('status', '/usr/bin/bash'),
  ],
])('refuses where %s', async (why, change) => {
  const refused = await objectionTo(made(change));
  expect(refused).toMatchObject({ what: 'that /bin was a link is not proven', why });
});

test('refuses where the link cannot be made, with the manual steps', async () => {
  const around = made();
  around.made.blocked = 'only root may do that';
  const { why, manual } = await objectionTo(around);
  expect(why).toBe('only root may do that');
  expect(manual?.commands.join()).toContain('ln -s');
});

test('one sibling is enough, and bash as well as sh', async () => {
  const around = made((maker) => {
    makeFolder(maker, '', '/lib');
    maker.missing('status', '/usr/bin/sh');
    makeFolder(maker, '', '/usr/bin/bash', { type: 'file' });
  });
  expect(await outcomeOf(around)).toEqual({ state: 'done' });
});

test.each(['CONTAINER_EXITED', 'CONTAINER_RUNNING'] as const)(
  'refuses while a container without a log path is left: %s',
  async (state) => {
    const { what, why } = await objectionTo(made(undefined, [{ ...bare, state }]));
    expect(what).toBe('the kubelet would delete it again within a minute');
    expect(why).toContain('"mqtt" (f1ccccccccccc)');
  },
);

test('a container whose log path is a directory deletes nothing', async () => {
  const logged = { ...bare, logPath: '/var/log/app' };
  const around = made((maker) => makeFolder(maker, '', '/var/log/app'), [logged], 'docker');
  expect(await outcomeOf(around)).toEqual({ state: 'done' });
});

test('refuses where the runtime cannot be asked', async () => {
  const around = made((maker) => {
    for (const key of [...maker.answers.keys()]) {
      if (key.startsWith('["runtime"')) maker.answers.set(key, { failure: 'timeout' });
    }
  });
  expect((await objectionTo(around)).what).toBe('the node could not be checked again');
});

test('creates no other link, whatever the action says', async () => {
  const forged = { ...ACTION, path: '/etc/passwd' } as unknown as Action;
  expect((await objectionTo(made(), forged)).what).toContain('is not a link that we restore');
  const aside = { ...ACTION, target: 'tmp/bin' } as unknown as Action;
  expect((await objectionTo(made(), aside)).what).toContain('is not a link that we restore');
});

test('says which label the link lacks where SELinux enforces', async () => {
  const enforcing = made((maker) => maker.file('/sys/fs/selinux/enforce', '1'));
  expect(await outcomeOf(enforcing)).toMatchObject({
    state: 'done',
    note: expect.stringContaining('restorecon -h /bin'),
  });
  const permissive = made((maker) => maker.file('/sys/fs/selinux/enforce', '0'));
  expect(await outcomeOf(permissive)).toEqual({ state: 'done' });
});

test('reports a root that cannot be written with the error of the kernel', async () => {
  const around = made();
  around.made.result = { state: 'failed', why: 'EROFS: read-only file system, symlink' };
  expect(await outcomeOf(around)).toMatchObject({
    state: 'failed',
    why: expect.stringContaining('EROFS'),
  });
});
