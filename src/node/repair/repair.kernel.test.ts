import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const PROGRAM = join(import.meta.dirname, '../../../test/rig/repair-in-namespace.ts');

let scratch = '';
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'kubediag-hands-'));
});
afterEach(() => rmSync(scratch, { recursive: true, force: true }));

/** The scenario is the first process of its own namespaces: with it ends all that it made. */
function inNamespaces(scenario: string, ...rest: string[]): unknown {
  const apart = '--mount --pid --fork --kill-child --mount-proc --propagation private'.split(' ');
  const text = [...apart, process.execPath, '--no-warnings', PROGRAM, scenario, scratch, ...rest];
  const limits = { timeout: 40_000, killSignal: 'SIGKILL' } as const;
  const { stdout, stderr } = spawnSync('unshare', text, { encoding: 'utf8', ...limits });
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

const target = () => join(scratch, 'kubelet/pods/6f1c2a9e/volume-subpaths/settings/web/1');
const untouched = { gone: [], added: 0 };
const STEPS = ['checked again', 'intent written', 'acted', 'checked afterwards'];

test('a stale bind is unmounted, nothing else changes, and the path can be bound again', () => {
  expect(inNamespaces('stale')).toEqual({
    result: { outcome: { state: 'done' }, entry: 1, steps: STEPS, settled: [] },
    gone: [target()],
    added: 0,
    again: 'old\n',
    repeated: {
      outcome: expect.objectContaining({
        state: 'refused',
        what: 'the mount changed since it was diagnosed',
      }),
      steps: [],
      settled: [],
    },
  });
});

test('a stale bind of a secret, whose volume is a tmpfs, is unmounted alone', () => {
  expect(inNamespaces('secret on tmpfs')).toMatchObject({
    result: { outcome: { state: 'done' } },
    gone: [target()],
    added: 0,
  });
});

test('of two mounts on one target only the topmost, the stale one, is unmounted', () => {
  expect(inNamespaces('stacked')).toMatchObject({
    result: { outcome: { state: 'done' } },
    gone: [target()],
    added: 0,
  });
});

test('a kubelet with mounts of its own is entered', () => {
  expect(inNamespaces('another namespace')).toMatchObject({
    isOurs: false,
    result: { outcome: { state: 'done' } },
    gone: [target()],
    added: 0,
  });
});

const changed = { state: 'refused', what: 'the mount changed since it was diagnosed' };
const tookAnother = {
  state: 'failed',
  what: 'another mount was unmounted than the one that was diagnosed',
};

test.each([
  ['exchanged after the intent', { ...changed, why: expect.stringContaining('now shows') }],
  [
    'exchanged while umount starts',
    { state: 'done', note: expect.stringContaining('another mount came to the path meanwhile') },
  ],
])('a mount that is %s: the new one stays, and the outcome says so', (scenario, outcome) => {
  expect(inNamespaces(scenario)).toMatchObject({
    result: { outcome, entry: 1 },
    gone: [target()],
    added: 1,
    content: 'new\n',
  });
});

test.each([
  ['exchanged while umount starts, and unmounted', 1],
  ['covered while umount starts', 0],
])('%s: the outcome names the mount that was unmounted', (scenario, count) => {
  expect(inNamespaces(scenario)).toMatchObject({
    result: { outcome: { ...tookAnother, why: expect.stringContaining(target()) }, entry: 1 },
    gone: { length: count },
  });
});

test('another process that got the pid of the kubelet is not entered', () => {
  expect(inNamespaces('pid reused after the intent')).toMatchObject({
    result: { outcome: { state: 'refused', why: expect.stringContaining('started at') }, entry: 1 },
    isMarked: false,
  });
});

test('no program of the namespace that is entered is run', () => {
  expect(inNamespaces('umount of the kubelet')).toMatchObject({
    result: { outcome: { state: 'done' } },
    gone: [target()],
    isMarked: false,
  });
});

test('a program that others may write is not run', () => {
  expect(inNamespaces('umount that others may write')).toMatchObject({
    ...untouched,
    result: { outcome: { state: 'refused', why: expect.stringContaining('may be written by') } },
    isMarked: false,
  });
});

test('a mount that is held open stays, and its holders are named', () => {
  const seen = inNamespaces('busy') as { holder: number; self: number };
  expect(seen).toMatchObject({
    ...untouched,
    result: { outcome: { state: 'failed', what: expect.stringContaining('in use') }, entry: 1 },
  });
  const why = expect.stringContaining(`sleep (pid ${seen.holder}, fd/0)`);
  expect(seen).toHaveProperty('result.outcome.why', why);
  expect(seen).toHaveProperty(
    'result.outcome.why',
    expect.stringContaining(`(pid ${seen.self}, fd/`),
  );
});

test.each([
  ['covered', 'another mount lies over this one'],
  ['last copy', 'the mount may hold the last copy of its data'],
  ['busybox', 'cannot unmount here'],
])('refused and untouched: %s', (scenario, what) => {
  expect(inNamespaces(scenario)).toMatchObject({
    ...untouched,
    result: { outcome: { state: 'refused', what }, steps: [] },
  });
});

test('a mount that was remade is left alone, although the kernel gave it the same id', () => {
  const what = 'the mount changed since it was diagnosed';
  const refused = { ...untouched, result: { outcome: { state: 'refused', what } } };
  let seen = inNamespaces('remade');
  // Another process that mounts something at that moment may get the id.
  for (let tries = 1; tries < 10 && !(seen as { isSameId: boolean }).isSameId; tries += 1) {
    expect(seen).toMatchObject(refused);
    seen = inNamespaces('remade');
  }
  expect(seen).toMatchObject({ ...refused, isSameId: true });
});

test('a disk that is full before the intent means no act', () => {
  expect(inNamespaces('disk full before the intent')).toMatchObject({
    ...untouched,
    result: {
      outcome: {
        state: 'refused',
        what: 'the journal cannot be written',
        why: 'no space left on device',
      },
    },
  });
});

test('a disk that fails after the intent does not hide what was done', () => {
  expect(inNamespaces('disk fails after the intent')).toMatchObject({
    gone: expect.arrayContaining([target()]),
    result: {
      outcome: { state: 'done', note: expect.stringContaining('read-only file system') },
      entry: 1,
    },
    next: { settled: [{ record: { entry: 1 }, outcome: { state: 'done' } }] },
  });
});

test.each([
  ['checked again', true, []],
  ['intent written', true, [{ outcome: { state: 'no-effect' } }]],
  ['acted', false, [{ outcome: { state: 'done' } }]],
  ['checked afterwards', false, [{ outcome: { state: 'done' } }]],
])(
  'killed after "%s": the next start reports it, and nothing is done twice',
  (step, there, settled) => {
    expect(inNamespaces('killed', step)).toMatchObject({
      signal: 'SIGKILL',
      wasThere: there,
      next: { outcome: { state: 'done' }, settled },
      unfinished: 0,
    });
  },
);

test('of two recoveries at once one acts, and the other names it', () => {
  const both = inNamespaces('two at once') as readonly Record<string, unknown>[];
  const acted = both.filter(({ outcome }) => outcome !== undefined);
  const refused = both.filter(({ what }) => what !== undefined);
  expect(acted).toMatchObject([{ outcome: { state: 'done' }, entry: 1 }]);
  expect(refused).toEqual([
    { what: expect.stringMatching(/^another recovery \(pid \d+, since .*\) is at work/) },
  ]);
});
