import { expect, test } from 'vitest';
import { nodes, ORPHAN } from '../../../test/faults/orphaned-volume-metadata.ts';
import { type NodeMaker, nodeNamed } from '../../../test/synthetic-node.ts';
import { SyntheticRepair } from '../../../test/synthetic-repair.ts';
import { takeSnapshot } from '../checkup/take-snapshot.ts';
import type { Action } from '../model/action.ts';
import type { FileStatus } from '../model/node-reader.ts';
import { keyOf, type Recorded } from '../recording/recording.ts';
import { setAside } from './set-aside.ts';

const ROOT = '/var/lib/kubelet';
const FOLDER = `${ROOT}/pods/${ORPHAN}/volumes/kubernetes.io~csi/pvc-7`;
const FROM = `${FOLDER}/vol_data.json`;
const STORED = `${ROOT}/kubediag-set-aside`;
const TO = `${STORED}/${ORPHAN}/pvc-7/vol_data.json`;
const ACTION: Action<'set-aside'> = {
  kind: 'set-aside',
  podUid: ORPHAN,
  volume: 'pvc-7',
  inode: '70',
};

function put(maker: NodeMaker, path: string, type: FileStatus['type'], inode = '9'): NodeMaker {
  const numbers = { mode: 0o755, owner: 0, links: 1, sizeBytes: 2, modifiedMs: 0 };
  const answer = { type, device: '254:1', inode, ...numbers };
  return maker.set('status', { path: `/proc/812/root${path}` }, { answer });
}

function gone(maker: NodeMaker, path: string): NodeMaker {
  return maker.missing('status', `/proc/812/root${path}`);
}

/** The recorded node of the fault, with what only a repair asks for; nothing is stored yet. */
function syntheticNode(): NodeMaker {
  const maker = nodeNamed('latent-silent', nodes());
  const names = FOLDER.split('/').slice(1);
  for (const depth of names.keys()) put(maker, `/${names.slice(0, depth + 1).join('/')}`, 'folder');
  put(maker, FROM, 'file', '70');
  for (const path of [STORED, `${STORED}/${ORPHAN}`, `${STORED}/${ORPHAN}/pvc-7`, TO])
    gone(maker, path);
  for (const pid of [812, 990]) {
    const question = { filesOf: pid, under: [], mountIds: 'each' } as const;
    maker.set('openFiles', question, { answer: [{ by: 'cwd', path: '/' }] });
  }
  // Of a kubelet that does not remove the directories of volumes itself.
  for (const [key, recorded] of maker.answers) {
    const text = JSON.stringify(recorded);
    if (!text.includes('git_version')) continue;
    maker.answers.set(key, JSON.parse(text.replace('v1.36.3', 'v1.18.8')) as Recorded);
  }
  return maker;
}

function stored(maker: NodeMaker, inode: string): NodeMaker {
  for (const path of [STORED, `${STORED}/${ORPHAN}`, `${STORED}/${ORPHAN}/pvc-7`]) {
    put(maker, path, 'folder');
  }
  return put(maker, TO, 'file', inode);
}

const snapshotOf = (maker: NodeMaker) => takeSnapshot(maker.build());
const refusalOf = (maker: NodeMaker) =>
  setAside.refuse(ACTION, snapshotOf(maker), new SyntheticRepair().repair.writer);

async function actOn(maker: NodeMaker, inAct = () => void stored(maker, '70')) {
  const fixture = new SyntheticRepair();
  fixture.inAct = inAct;
  const freshSnapshot = () => snapshotOf(maker);
  const failure = await setAside.act(ACTION, fixture.repair.writer, freshSnapshot(), {
    freshSnapshot,
  });
  return { log: fixture.log, failure };
}

async function resumeOn(maker: NodeMaker) {
  const fixture = new SyntheticRepair();
  const said = await setAside.resume?.(ACTION, fixture.repair.writer, () => snapshotOf(maker));
  return { log: fixture.log, said };
}

test('nothing stands against the last file of an orphan', async () => {
  expect(await refusalOf(syntheticNode())).toBeUndefined();
  expect(await actOn(syntheticNode())).toEqual({
    log: [`link ${FROM} as ${TO}`, `unlink ${FROM}`, `rmdir ${FOLDER}/mount`, `rmdir ${FOLDER}`],
    failure: undefined,
  });
});

test('a file that was replaced since the second check is not moved', async () => {
  const replaced = { what: 'the volume changed since it was diagnosed', stays: 'refused' };
  const early = await actOn(put(syntheticNode(), FROM, 'file', '71'));
  expect(early).toMatchObject({ log: [], failure: replaced });
  const maker = syntheticNode();
  const late = await actOn(maker, () => void put(stored(maker, '70'), FROM, 'file', '71'));
  expect(late).toMatchObject({ log: [`link ${FROM} as ${TO}`], failure: replaced });
});

test('an earlier stored file is never replaced, and the reason is reported', async () => {
  expect(await refusalOf(stored(syntheticNode(), '7777'))).toMatchObject({
    state: 'refused',
    what: 'another file is stored from an earlier time',
    manual: { commands: [expect.stringContaining(`${TO}.earlier`)] },
  });
});

test('a symlink on the path to its new place is not followed', async () => {
  const maker = put(stored(syntheticNode(), '7777'), `${STORED}/${ORPHAN}`, 'link');
  expect(await refusalOf(maker)).toMatchObject({
    state: 'refused',
    what: 'the place to keep it leads elsewhere',
    why: `${STORED}/${ORPHAN} is a link, and no directory`,
  });
});

test('nor is a link in its last directory', async () => {
  const maker = put(stored(syntheticNode(), '70'), `${STORED}/${ORPHAN}/pvc-7`, 'link');
  expect(await refusalOf(maker)).toMatchObject({ what: 'the place to keep it leads elsewhere' });
});

test('a file on another disk is not moved, for that would copy and delete', async () => {
  const maker = syntheticNode();
  const table = maker.answers.get(keyOf('file', { path: '/proc/812/mountinfo' }));
  const text = table && 'answer' in table ? (table.answer as string) : '';
  maker.file('/proc/812/mountinfo', `${text}28 27 254:2 / ${ROOT}/pods rw - ext4 /dev/vdb rw\n`);
  expect(await refusalOf(maker)).toMatchObject({
    state: 'refused',
    what: expect.stringContaining('on another disk'),
  });
});

test('killed between the two names: the first is taken away, and nothing is copied', async () => {
  expect(await refusalOf(stored(syntheticNode(), '70'))).toBeUndefined();
  const { log, said } = await resumeOn(stored(syntheticNode(), '70'));
  expect(log).toEqual([`unlink ${FROM}`, `rmdir ${FOLDER}/mount`, `rmdir ${FOLDER}`]);
  expect(said?.said).toContain('only that now');
});

test('killed before the directories: they are removed, where this kubelet would leave them', async () => {
  const { log, said } = await resumeOn(gone(stored(syntheticNode(), '70'), FROM));
  expect(log).toEqual([`rmdir ${FOLDER}/mount`, `rmdir ${FOLDER}`]);
  expect(said).toEqual({ said: 'its directory is removed now' });
});

test('killed before anything: nothing is done', async () => {
  expect(await resumeOn(syntheticNode())).toEqual({ log: [], said: undefined });
});

test('afterwards reports whether it is stored, and what is left', async () => {
  const sight = async (maker: NodeMaker) => setAside.isDone(ACTION, snapshotOf(maker));
  expect(await sight(syntheticNode())).toEqual({ isDone: false, seen: 'the file is still there' });
  expect(await sight(gone(stored(syntheticNode(), '70'), FROM))).toMatchObject({
    isDone: true,
    seen: `the file is stored as ${TO}`,
    beside: expect.stringContaining(`rmdir ${FOLDER}`),
  });
  expect(await sight(gone(gone(syntheticNode(), FROM), FOLDER))).toMatchObject({
    beside: 'the file is gone, and not stored by us',
  });
});

test('what the kernel refuses is reported, with the commands to do it by', async () => {
  const [maker, fixture] = [syntheticNode(), new SyntheticRepair()];
  fixture.result = { state: 'failed', why: 'no space left on device' };
  const freshSnapshot = () => snapshotOf(maker);
  const { writer } = fixture.repair;
  const failure = await setAside.act(ACTION, writer, freshSnapshot(), { freshSnapshot });
  expect(failure).toMatchObject({
    what: 'the file could not be set aside',
    why: 'no space left on device',
    isUnending: false,
    manual: {
      commands: [
        `mkdir -p ${STORED}/${ORPHAN}/pvc-7`,
        `mv --no-clobber '${FROM}' ${TO}`,
        `rmdir '${FOLDER}'`,
      ],
    },
  });
  expect(fixture.log).toEqual([`link ${FROM} as ${TO}`]);
});

test('nothing is done where we cannot act', async () => {
  const fixture = new SyntheticRepair();
  fixture.blocked = 'umount is not there';
  const { writer } = fixture.repair;
  expect(await setAside.refuse(ACTION, snapshotOf(syntheticNode()), writer)).toMatchObject({
    state: 'refused',
    what: 'we cannot act here',
    why: 'umount is not there',
  });
});

test('a file that is another one now, or not alone, is refused', async () => {
  const other = await setAside.refuse(
    { ...ACTION, inode: '71' },
    snapshotOf(syntheticNode()),
    new SyntheticRepair().repair.writer,
  );
  expect(other).toMatchObject({ state: 'refused', why: `${FROM} is another file now` });
  const unknown = await setAside.refuse(
    { ...ACTION, volume: 'pvc-8' },
    snapshotOf(put(syntheticNode(), FROM.replace('pvc-7', 'pvc-8'), 'file', '70')),
    new SyntheticRepair().repair.writer,
  );
  expect(unknown).toMatchObject({ state: 'refused' });
});

test.each(['', '..', '.hidden', 'a/b'])('"%s" is no name of a volume', async (volume) => {
  const { writer } = new SyntheticRepair().repair;
  const snapshot = snapshotOf(syntheticNode());
  const refusal = await setAside.refuse({ ...ACTION, volume }, snapshot, writer);
  expect(refusal).toMatchObject({ state: 'refused', what: 'this names no volume of a pod' });
});
