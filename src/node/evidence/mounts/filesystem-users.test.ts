import { describe, expect, test } from 'vitest';
import { deadNode, FORCE, holds, withMounts } from '../../../../test/synthetic-dead-volume.ts';
import type { NodeMaker } from '../../../../test/synthetic-node.ts';
import { takeSnapshot } from '../../checkup/take-snapshot.ts';
import { filesystemUser } from './filesystem-users.ts';

describe('our own output on a mount that no table shows', () => {
  const OUTPUT = { by: 'fd/1', path: '/output', mount: 999 };
  const userWith = (device: string) => {
    const snapshot = takeSnapshot(holds(deadNode(), 1, OUTPUT).build());
    return filesystemUser(FORCE, snapshot, new Map([[999, device]]));
  };

  test('does not use another filesystem', async () => {
    expect(await userWith('254:1')).toBeUndefined();
  });

  test('uses the filesystem that it is on, and the message says so', async () => {
    expect(await userWith(FORCE.device)).toEqual({
      what: 'a process uses this filesystem',
      why: expect.stringMatching(
        /holds \/output by fd\/1, where the input or output of kubediag lies as well: redirect/,
      ),
    });
  });

  test('says nothing about other mounts that no table shows', async () => {
    const other = { by: 'fd/3', path: '/other', mount: 998 };
    const snapshot = takeSnapshot(holds(deadNode(), 1, OUTPUT, other).build());
    expect(await filesystemUser(FORCE, snapshot, new Map([[999, '254:1']]))).toMatchObject({
      what: expect.stringContaining('a filesystem that no table shows'),
    });
  });
});

test('a file whose device is known counts by that, wherever its path seems to be', async () => {
  const userOf = (device: string) => {
    const file = { by: 'mem', path: `${FORCE.target}/library.so`, device };
    return filesystemUser(FORCE, takeSnapshot(holds(deadNode(), 1, file).build()));
  };
  expect(await userOf('254:1')).toBeUndefined();
  expect(await userOf(FORCE.device)).toMatchObject({ what: 'a process uses this filesystem' });
});

describe('the file behind a loop device', () => {
  const path = '/sys/block/loop1/loop/backing_file';
  const userOn = (maker: NodeMaker) => filesystemUser(FORCE, takeSnapshot(maker.build()));

  test('that does not exist uses nothing', async () => {
    expect(await userOn(deadNode().missing('file', path))).toBeUndefined();
  });

  test.each(['timeout', 'denied', 'too-large', 'not-asked', 'failed'] as const)(
    'that cannot be read is an error, and not an unused device: %s',
    async (failure) => {
      const user = userOn(deadNode().set('file', { path }, { failure }));
      await expect(user).rejects.toMatchObject({ name: 'ReadError', failure, source: path });
    },
  );
});

test('a filesystem that is the root of a namespace is in use, whatever is open on the node', async () => {
  const held = holds(deadNode(), 1, { by: 'fd/3', path: '/etc/hosts' });
  const maker = withMounts(held, (text) => `${text}300 27 0:57 / / rw - ceph x rw\n`);
  expect(await filesystemUser(FORCE, takeSnapshot(maker.build()))).toEqual({
    what: 'somebody else has this filesystem mounted',
    why: expect.stringMatching(/^it is mounted as \/ in the mounts of /),
  });
});
