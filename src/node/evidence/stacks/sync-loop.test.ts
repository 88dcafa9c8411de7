import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { countedDump, eachDump, journalOf } from '../../../../test/synthetic-dump.ts';
import { parseGoroutineDump } from '../../../lib/go/dump-parser.ts';
import { matchRows } from './stack-match.ts';
import { syncLoopIn } from './sync-loop.ts';

const K = 'k8s.io/kubernetes/pkg/kubelet.(*Kubelet).';
const LOOP = [`${K}syncLoopIteration`, `${K}syncLoop`, `${K}Run`];
const STATUS = 'k8s.io/kubernetes/pkg/kubelet/status.(*manager).';
const LOCK = ['sync.runtime_SemacquireMutex', 'sync.(*Mutex).lockSlow', 'sync.(*Mutex).Lock'];

function fixture(name: string): string {
  return readFileSync(join(import.meta.dirname, '../../../../test/fixtures/dumps', name), 'utf8');
}

const snapshot = (text: string) => syncLoopIn(parseGoroutineDump(text));
const rowsOf = (text: string) =>
  matchRows(parseGoroutineDump(text)).map(({ row, isPartial }) => [row.number, isPartial]);

describe('real dumps', () => {
  test('a loop on a dead mount of an orphaned pod, in every format', () => {
    const each = fixture('blocked-loop-each.txt');
    const blocked = {
      state: 'blocked',
      minutes: 2,
      branch: 'HandlePodCleanups',
      waitsFor: 'path',
      isAmongOrphans: true,
      row: { number: 1, kind: 'dead-mount' },
      leaf: { function: 'syscall.Syscall6' },
    };
    expect(snapshot(each)).toMatchObject(blocked);
    expect(snapshot(journalOf(each))).toMatchObject(blocked);
    expect(rowsOf(each)).toEqual([[1, false]]);
  });

  test('the same without times may be normal work', () => {
    const counted = fixture('blocked-loop-counted.txt');
    expect(snapshot(counted)).toMatchObject({ state: 'busy', minutes: null, row: { number: 1 } });
    expect(snapshot(journalOf(counted))).toMatchObject({ state: 'busy', row: { number: 1 } });
  });

  test('a loop of v1.36.3 on a dead CSI mount', () => {
    const row = { number: 2, kind: 'dead-mount' };
    const each = fixture('blocked-csi-1.36-each.txt');
    for (const text of [each, journalOf(each)]) {
      expect(snapshot(text)).toMatchObject({
        state: 'blocked',
        minutes: 1,
        isAmongOrphans: true,
        row,
      });
    }
    expect(snapshot(fixture('blocked-csi-1.36-counted.txt'))).toMatchObject({ state: 'busy', row });
  });

  test('a healthy loop of v1.36.3', () => {
    expect(snapshot(fixture('healthy-loop-1.36.txt'))).toEqual({ state: 'healthy', id: 189 });
    expect(rowsOf(fixture('healthy-loop-1.36.txt'))).toEqual([]);
  });

  test.each([
    ['device-plugin-cut.txt', [[6, true]]],
    ['event-channel-full.txt', [[12, false]]],
    ['docker-hangs-cut.txt', [[31, true]]],
    ['healthy-counted-cut.txt', []],
    ['long-idle-in-journal.txt', []],
  ])('%s matches its rows, and the loop is unknown', (name, rows) => {
    expect(rowsOf(fixture(name))).toEqual(rows);
    expect(snapshot(fixture(name))).toMatchObject({
      state: 'unknown',
      why: expect.stringContaining('cut'),
    });
  });

  test('a truncated dump is never healthy, and never has another cause', () => {
    for (const name of ['blocked-loop-each.txt', 'healthy-loop-1.36.txt']) {
      const text = fixture(name);
      const loopEnd = text.indexOf('\n\n', text.indexOf('.syncLoop('));
      for (let end = 0; end < loopEnd; end += 7) {
        const loop = snapshot(text.slice(0, end));
        expect(loop.state, `${name} up to ${end}`).not.toBe('healthy');
        if ('row' in loop) expect([1, undefined]).toContain(loop.row?.number);
      }
    }
  });
});

describe('the sync loop', () => {
  const healthy = { functions: LOOP };

  test('waits for its next event', () => {
    expect(snapshot(eachDump([healthy]))).toEqual({ state: 'healthy', id: 100 });
    expect(snapshot(countedDump([healthy]))).toEqual({ state: 'healthy', id: null });
    expect(snapshot(eachDump([{ ...healthy, state: 'runnable' }]))).toMatchObject({
      state: 'healthy',
    });
  });

  test('wakes up every second, so a minute of sleep is not healthy', () => {
    const asleep = snapshot(eachDump([{ ...healthy, minutes: 4 }]));
    expect(asleep).toMatchObject({ state: 'blocked', minutes: 4, row: null });
  });

  test('backs off on purpose', () => {
    const made = { functions: ['time.Sleep', `${K}syncLoop`], state: 'sleep' };
    expect(snapshot(eachDump([made]))).toMatchObject({ state: 'backing-off' });
  });

  test('is busy for less than a minute', () => {
    const made = { functions: ['os.Stat', `${K}HandlePodSyncs`, ...LOOP], state: 'syscall' };
    expect(snapshot(eachDump([made]))).toMatchObject({ state: 'busy', minutes: 0, row: null });
  });

  test('has a stack but no cause if no row matches', () => {
    const functions = ['example.com/odd.Wait', `${K}HandlePodUpdates`, ...LOOP];
    expect(snapshot(eachDump([{ functions, minutes: 8 }]))).toMatchObject({
      state: 'blocked',
      row: null,
      branch: 'HandlePodUpdates',
      waitsFor: 'other',
      frames: [{ function: 'example.com/odd.Wait' }, {}, {}, { function: `${K}syncLoop` }],
    });
  });

  test('is recognised by its handlers if the outermost calls are missing', () => {
    const functions = ['os.Stat', `${K}cleanupOrphanedPodDirs`, `${K}HandlePodCleanups`];
    expect(snapshot(countedDump([{ functions }]))).toMatchObject({
      state: 'busy',
      branch: 'HandlePodCleanups',
      isAmongOrphans: true,
    });
  });

  test('runs twice after a panic', () => {
    expect(snapshot(eachDump([healthy, healthy]))).toEqual({ state: 'twice', ids: [100, 200] });
    // Two dumps of one kubelet in one text are not two loops.
    const one = eachDump([{ ...healthy, id: 7 }]);
    expect(snapshot(`${one}\n${one}`)).toMatchObject({ state: 'healthy' });
  });

  test('is not in the dump of another program', () => {
    const other = eachDump([{ functions: ['main.main'] }]);
    expect(snapshot(other)).toMatchObject({ why: "no sync loop in it: not a kubelet's dump" });
    const part = other.slice(0, -10);
    expect(snapshot(part)).toMatchObject({
      why: expect.stringContaining("perhaps another program's"),
    });
    const young = eachDump([{ functions: ['k8s.io/kubernetes/pkg/kubelet/config.newSource'] }]);
    expect(snapshot(young)).toMatchObject({ why: expect.stringContaining('has not begun') });
    expect(snapshot('no dump')).toMatchObject({ state: 'unknown' });
  });
});

describe('a lock', () => {
  const waiting = {
    functions: [...LOCK, `${STATUS}SetPodStatus`, `${K}HandlePodSyncs`, ...LOOP],
    state: 'sync.Mutex.Lock',
    minutes: 6,
  };
  const holder = {
    functions: ['net/http.(*persistConn).roundTrip', `${STATUS}syncPod`, `${STATUS}Start.func1`],
    minutes: 7,
    id: 55,
  };
  const idle = { functions: [`${STATUS}Start.func1`], minutes: 900 };
  const csi = 'k8s.io/kubernetes/pkg/volume/csi.(*csiDriverClient).NodeStageVolume';
  const grpc = 'google.golang.org/grpc.(*ClientConn).Invoke';

  test('is identified by its holder, not by idle goroutines or by others that wait for it', () => {
    const others = [idle, { ...waiting, functions: [...LOCK, `${STATUS}GetPodStatus`], id: 70 }];
    expect(snapshot(eachDump([waiting, ...others, holder]))).toMatchObject({
      state: 'blocked',
      waitsFor: 'lock',
      row: { number: 16 },
      holder: { id: 55, leaf: { function: 'net/http.(*persistConn).roundTrip' } },
    });
  });

  test('has the row of its holder as the cause', () => {
    const stuck = { ...holder, functions: [grpc, csi, `${STATUS}syncPod`] };
    expect(snapshot(eachDump([waiting, stuck]))).toMatchObject({ row: { number: 20 } });
  });

  test('has no named holder if there are two candidates', () => {
    const stuck = { ...holder, functions: [grpc, csi, `${STATUS}syncPod`], id: 56 };
    const loop = snapshot(eachDump([waiting, holder, stuck]));
    expect(loop).toMatchObject({ row: { number: 16 } });
    expect(loop).not.toHaveProperty('holder');
  });
});
