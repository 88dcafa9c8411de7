import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  DEAD_TARGET,
  FORCE,
  halfForced,
  holds,
  withMounts,
} from '../../../test/synthetic-dead-volume.ts';
import {
  INTENT,
  KUBELET_PID,
  STALE_LINE,
  SyntheticRepair,
  TARGET,
} from '../../../test/synthetic-repair.ts';
import { thisProcess } from '../../lib/state/this-process.ts';
import { takeSnapshot } from '../checkup/take-snapshot.ts';
import type { ActionKind } from '../model/action.ts';
import type { NodeReader, OpenFile } from '../model/node-reader.ts';
import { FileJournal } from './file-journal.ts';
import { type JournalRecord, readJournal } from './journal.ts';
import type { MountPins, ProcessPins } from './node-writer.ts';
import { perform, type Step } from './perform.ts';
import { settleUnfinished } from './settle-unfinished.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kubediag-settle-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const actor = { ...thisProcess(), pid: 812 };
const fileJournal = () =>
  new FileJournal({ folder, actor, now: () => new Date('2026-01-02T03:04:05Z') });

/** Performs until a step, and ends there as a crash would: nothing after it happens. */
async function crashAfter(fixture: SyntheticRepair, name: Step['name']): Promise<void> {
  const onStep = (step: Step) => {
    if (step.name === name) throw new Error('crash');
  };
  const repair = { ...fixture.repair, journal: fileJournal(), onStep };
  await expect(perform(INTENT, repair)).rejects.toThrow('crash');
}

function settle(fixture: SyntheticRepair) {
  return settleUnfinished(folder, { ...fixture.repair, journal: fileJournal() });
}

const BEGUN = 'begun at 2026-01-02T03:04:05.000Z by pid 812, its end was not seen; checked now:';

test('a crash before the intent leaves no trace, for nothing was done', async () => {
  const fixture = new SyntheticRepair();
  await crashAfter(fixture, 'checked again');
  expect(await settle(fixture)).toEqual([]);
  expect(readJournal(folder).records).toEqual([]);
});

test('a crash between intent and action is concluded as without effect', async () => {
  const fixture = new SyntheticRepair();
  await crashAfter(fixture, 'intent written');
  expect(await settle(fixture)).toMatchObject([
    { outcome: { state: 'no-effect', why: `${BEGUN} the mount is still there` } },
  ]);
  expect(fixture.log).toEqual([]);
});

test.each(['acted', 'checked afterwards'] as const)(
  'a crash after "%s" is concluded as done',
  async (step) => {
    const fixture = new SyntheticRepair();
    await crashAfter(fixture, step);
    expect(await settle(fixture)).toMatchObject([
      { record: { entry: 1 }, outcome: { state: 'done', note: `${BEGUN} the mount is gone` } },
    ]);
    expect(fixture.log).toEqual([`unmount ${TARGET} in ${KUBELET_PID}`]);
  },
);

test('an unmount that completes during the check is concluded as done', async () => {
  const fixture = new SyntheticRepair();
  await crashAfter(fixture, 'intent written');
  fixture.node
    .folder('/proc', ['1', String(KUBELET_PID), '900', 'sys'])
    .set('file', { path: '/proc/900/comm' }, { failure: 'missing' })
    .set('file', { path: '/proc/900/status' }, { failure: 'missing' });
  const { repair } = fixture;
  const ask: NodeReader['ask'] = async (kind, question) => {
    // The umount that was left behind is listed, and has ended when it is checked.
    if ('path' in question && question.path === '/proc/900/comm') {
      fixture.lines = fixture.lines.filter((line) => line !== STALE_LINE);
    }
    return repair.snapshot().node.ask(kind, question);
  };
  const snapshot = () => takeSnapshot({ ask, now: () => new Date() }, { kubeletPid: KUBELET_PID });
  expect(
    await settleUnfinished(folder, { ...repair, snapshot, journal: fileJournal() }),
  ).toMatchObject([{ outcome: { state: 'done', note: `${BEGUN} the mount is gone` } }]);
});

test('a line that does not say who wrote it is settled like any other', async () => {
  const fixture = new SyntheticRepair();
  await crashAfter(fixture, 'acted');
  const path = join(folder, 'journal.jsonl');
  const { by: _, ...record } = JSON.parse(readFileSync(path, 'utf8')) as JournalRecord;
  writeFileSync(path, `${JSON.stringify(record)}\n`);
  const [settled] = await settle(fixture);
  expect(settled).toMatchObject({
    outcome: { state: 'done', note: expect.stringContaining('a process that the journal') },
  });
});

test('what was settled once is settled for good', async () => {
  const fixture = new SyntheticRepair();
  await crashAfter(fixture, 'acted');
  await settle(fixture);
  expect(await settle(fixture)).toEqual([]);
  expect(readJournal(folder).records).toHaveLength(2);
});

test('a node that cannot be checked leaves the entry open', async () => {
  const fixture = new SyntheticRepair();
  await crashAfter(fixture, 'acted');
  const failing = new SyntheticRepair();
  failing.node.set('file', { path: '/proc/sys/kernel/osrelease' }, { failure: 'timeout' });
  expect(await settle(failing)).toMatchObject([
    { unsettled: expect.stringContaining('no answer within the time limit') },
  ]);
  expect(readJournal(folder).unfinished).toHaveLength(1);
});

test('an action of a version that is not ours is left to that version', async () => {
  const fixture = new SyntheticRepair();
  await crashAfter(fixture, 'intent written');
  const [record] = readJournal(folder).unfinished;
  const foreign = { ...record, entry: 2, action: { kind: 'restart-unit', unit: 'kubelet' } };
  appendFileSync(join(folder, 'journal.jsonl'), `${JSON.stringify(foreign)}\n`);
  const settled = await settle(fixture);
  expect(settled).toMatchObject([
    { record: { entry: 1 } },
    { record: { entry: 2 }, unsettled: 'this version does not know the action restart-unit' },
  ]);
});

describe('an act that was killed in its middle', () => {
  /** As if it had been killed: the intent is on disk, and the node is half-way. */
  async function settleForce(permitted: readonly ActionKind[], ...held: readonly OpenFile[]) {
    const maker = halfForced();
    if (held.length > 0) holds(maker, 1, ...held);
    const fixture = new SyntheticRepair();
    const { writer } = fixture.repair;
    const repair = {
      journal: fileJournal(),
      snapshot: () => takeSnapshot(maker.build()),
      permitted: new Set(permitted),
      writer: {
        ...writer,
        forceUnmount: async (mount: MountPins, process: ProcessPins) => {
          withMounts(maker, (text) => text.replace(/^210 .*\n/m, ''));
          const path = `/proc/812/root${mount.target}`;
          maker.set('status', { path, patience: 'long' }, { failure: 'missing' });
          return writer.forceUnmount(mount, process);
        },
      },
    };
    await repair.journal.intend({ action: FORCE, fault: 'dead-volume-mount', finding: '1' });
    return { settled: await settleUnfinished(folder, repair), log: fixture.log };
  }

  test('is finished', async () => {
    const { settled, log } = await settleForce(['force-unmount']);
    expect(log).toEqual([`force-unmount ${DEAD_TARGET} in 812`, `rmdir ${DEAD_TARGET}`]);
    const note = expect.stringContaining('it is unmounted now');
    expect(settled).toMatchObject([{ outcome: { state: 'done', note } }]);
  });

  test('stays open when that cannot be now, with the reason', async () => {
    const { settled, log } = await settleForce(['force-unmount'], {
      by: 'fd/7',
      path: '/db',
      mount: 210,
    });
    expect(log).toEqual([]);
    expect(settled).toMatchObject([{ unsettled: expect.stringContaining('holds /db by fd/7') }]);
    expect(readJournal(folder).unfinished).toHaveLength(1);
  });

  test('is not taken up where the policy does not permit it', async () => {
    const { settled, log } = await settleForce(['unmount']);
    expect(log).toEqual([]);
    expect(settled).toMatchObject([{ outcome: { state: 'no-effect' } }]);
  });
});
