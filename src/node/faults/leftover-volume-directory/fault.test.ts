import { expect, test } from 'vitest';
import { describeFault } from '../../../../test/describe-fault.ts';
import { answerOn } from '../../../../test/fault-fixtures.ts';
import { heldOn, nodes, optionalReads } from '../../../../test/faults/leftover-volume-directory.ts';
import { parseMountTable } from '../../evidence/mounts/mount-table.ts';
import { teardownFailures } from '../../evidence/volumes/teardown-failures.ts';
import { diagnose } from './diagnose.ts';
import { leftoverVolumeDirectory } from './fault.ts';
import { hasHealed, recover } from './recover.ts';

describeFault(leftoverVolumeDirectory, { nodes: nodes(), optionalReads });

const UID = '612f2e76-3ce1-11e8-b2c9-0cc47ae2b22c';
const FOLDER = `/var/lib/kubelet/pods/${UID}/volumes/transwarp.io~tosdisk`;
const unseen = { known: false, why: 'not among what was given' } as const;

const failing = (words: string) => [
  {
    message: `Error: UnmountVolume.TearDown failed for volume "a" with: ${words}`,
    text: words,
    origin: { file: 'kubelet.log', line: 7 },
  },
];

const logOf = (words: string, holders: ReadonlyMap<string, never[]> = new Map()) => ({
  known: true as const,
  value: { ...teardownFailures(failing(words)), holders },
});

test("the kubelet's words alone prove it, with the cause", () => {
  const log = logOf(`rename ${FOLDER}/a ${FOLDER}/a.deleting~1: file exists`);
  const verdict = diagnose({ leftovers: unseen, log });
  expect(verdict).toMatchObject({
    state: 'found',
    findings: [{ state: 'active', reason: 'TeardownFails', pins: { path: FOLDER, podUid: UID } }],
  });
  expect(verdict.findings[0]?.proof[0]?.claim).toContain('EEXIST');
  // The directories were not checked, so nothing may be removed.
  expect(verdict.findings.map((finding) => recover(finding).actions)).toEqual([[]]);
});

test('a volume that is merely busy is a suspicion, and no more', () => {
  const log = logOf(`remove ${FOLDER}/a: device or resource busy`);
  const verdict = diagnose({ leftovers: unseen, log });
  expect(verdict).toMatchObject({ state: 'unknown', findings: [] });
  expect(verdict).toMatchObject({
    unknowns: [{}, { why: expect.stringContaining('another mount namespace may hold it') }],
  });
});

/** node_exporter has the volume mounted, in a namespace of its own. */
function holdersOf(path: string) {
  const line = `1903 1321 0:318 / /host${path} rw,relatime - tmpfs tmpfs rw\n`;
  const table = parseMountTable(line, '/proc/177799/mountinfo');
  const [mount] = table.mounts;
  if (!mount) throw new Error('one was made');
  const about = { namespace: 'mnt:[2]', pid: 177_799, processName: 'node_exporter', root: '/' };
  const namespace = { ...about, cgroups: [], pids: [177_799], table };
  return { line, holders: new Map([[path, [{ namespace, mount }]]]) };
}

test('with the mount table that holds it, it is found', () => {
  const { line, holders } = holdersOf(`${FOLDER}/a`);
  const reported = teardownFailures(failing(`remove ${FOLDER}/a: device or resource busy`));
  const verdict = diagnose({
    leftovers: unseen,
    log: { known: true, value: { ...reported, holders } },
  });
  expect(verdict).toMatchObject({
    state: 'found',
    findings: [{ state: 'active', reason: 'VolumeHeldElsewhere' }],
  });
  const [finding] = verdict.findings;
  expect(finding?.proof[1]).toMatchObject({
    claim: expect.stringContaining('held by node_exporter (pid 177799)'),
    text: line.trim(),
  });
  expect(finding?.prevention).toEqual([expect.stringContaining('let node_exporter mount')]);
});

test('a rename that fails is prevented by its plugin, and by who holds the volume', () => {
  const words = `rename ${FOLDER}/a ${FOLDER}/a.deleting~1: device or resource busy`;
  const { holders } = holdersOf(`${FOLDER}/a`);
  const log = (known: ReturnType<typeof holdersOf>['holders']) => ({
    known: true as const,
    value: { ...teardownFailures(failing(words)), holders: known },
  });
  const plugin = expect.stringContaining('fix the plugin transwarp.io/tosdisk');
  const alone = diagnose({ leftovers: unseen, log: log(new Map()) });
  expect(alone.findings.map(({ prevention }) => prevention)).toEqual([[plugin]]);
  const held = diagnose({ leftovers: unseen, log: log(holders) });
  expect(held.findings.map(({ prevention }) => prevention)).toEqual([
    [expect.stringContaining('let node_exporter mount'), plugin],
  ]);
});

test('a leftover that the kubelet took for a volume at its start is still there', () => {
  const message = `Could not construct volume information, cleanup the mounts. (pod.UID ${UID}, volume.SpecName a.deleting~1): no volume plugin matched`;
  const origin = { file: 'kubelet.log', line: 9 };
  const taken = { message, text: message, origin };
  const value = { ...teardownFailures([taken]), holders: new Map() };
  expect(diagnose({ leftovers: unseen, log: { known: true, value } }).findings).toMatchObject([
    {
      state: 'latent',
      reason: 'LeftoverStays',
      subject: { podUid: UID },
      proof: [{ text: message, origin }],
    },
  ]);
  // A pod of which the teardown fails is not reported twice.
  const [renamed] = failing(`rename ${FOLDER}/a ${FOLDER}/a.deleting~1: file exists`);
  if (!renamed) throw new Error('one was made');
  const both = { ...teardownFailures([taken, renamed]), holders: new Map() };
  const { findings } = diagnose({ leftovers: unseen, log: { known: true, value: both } });
  expect(findings.map(({ reason }) => reason)).toEqual(['TeardownFails']);
});

test('a log that says nothing of it leaves it unknown where nobody saw the directories', () => {
  expect(diagnose({ leftovers: unseen, log: logOf('exit status 32') }).state).toBe('unknown');
  expect(diagnose({ leftovers: unseen, log: unseen }).state).toBe('unknown');
});

test('twenty thousand names of usual length are one action; longer ones are several', () => {
  const finding = (name: string, count: number) => ({
    state: 'active' as const,
    reason: 'LeftoversPileUp',
    summary: '',
    subject: {},
    proof: [],
    blastRadius: '',
    excluded: [],
    alternatives: [],
    pins: {
      ...{ podUid: UID, plugin: 'p', path: FOLDER },
      leftovers: Array.from(
        { length: count },
        (_, index) => `${1_000_000 + index} ${name}${index}`,
      ),
    },
  });
  const usual = recover(finding('pvc-f39e86b9-019b-11e8-b2c9-0cc47ae2b22c.deleting~', 20_000));
  expect(usual.actions).toHaveLength(1);
  const nested = recover(finding(`a${'.deleting~355603580'.repeat(12)}.deleting~`, 20_000));
  expect(nested.actions.length).toBeGreaterThan(1);
  const names = nested.actions.flatMap((action) => ('leftovers' in action ? action.leftovers : []));
  expect(new Set(names).size).toBe(20_000);
});

test.each([
  ['none is left', [], true],
  ['one with data is left, which a recovery leaves', [false], true],
  ['an empty one is there again', [false, true], false],
])('it has healed or not where %s', (_, areEmpty, healed) => {
  const status = { type: 'folder', inode: '12' };
  const left = areEmpty.map((isEmpty) => ({ status, isEmpty }));
  const folders = [{ path: FOLDER, leftovers: left }];
  const seen = { leftovers: { known: true, value: { folders } }, log: unseen } as never;
  expect(hasHealed({ pins: { path: FOLDER } } as never, seen)).toBe(healed);
});

test.each([
  ['2.6.32-754.el6.x86_64', true],
  ['3.10.0-1160.el7.x86_64', true],
  ['3.16.0-4-amd64', true],
  ['3.17.8', true],
  ['3.18.0', false],
  ['3.19.0-80-generic', false],
  ['4.14.0-115.el7a.aarch64', true],
  ['4.4.0', false],
  ['6.1.0-18-amd64', false],
])('on Linux %s a mount of another namespace makes the volume busy: %s', async (kernel, isBusy) => {
  const { findings } = await answerOn(leftoverVolumeDirectory, heldOn(kernel));
  const claims = findings[0]?.proof.map(({ claim }) => claim).join('\n');
  expect(claims?.includes('so it is busy (EBUSY) on Linux')).toBe(isBusy);
});

test.each([
  [
    `rename ${FOLDER}/a ${FOLDER}/a.deleting~1: device or resource busy`,
    'the rename fails with EBUSY: the directory is mounted somewhere',
  ],
  [
    `rename ${FOLDER}/a ${FOLDER}/a.deleting~1: permission denied`,
    'the rename fails, for a reason of its own',
  ],
  [
    `remove ${FOLDER}/a.deleting~1: directory not empty`,
    'the rename worked, the removal fails because something is still written into it',
  ],
  [
    `rename ${FOLDER}/a ${FOLDER}/a.deleting~1`,
    'the rename fails; the reason is missing, because the line is cut off',
  ],
])('the words "%s" name the cause', (words, claim) => {
  const { findings } = diagnose({ leftovers: unseen, log: logOf(words) });
  expect(findings.map(({ proof }) => proof[0]?.claim)).toEqual([`cause: ${claim}`]);
});
