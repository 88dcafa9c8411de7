import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { faults } from '../../src/node/faults/index.ts';
import type { DiagnosisStatus } from '../../src/pipeline/api/diagnosis.ts';
import { BROKER, breakNode, makeNode, mountLine, OLD, podOf, RUNNING } from '../rig/faulty-node.ts';
import { makeHung, ORPHAN, says, volumeOf } from '../rig/hung-volume.ts';
import { type PracticeNode, WEB } from '../rig/practice-node.ts';
import { binOf, deleteBin, givePrivateRoot } from '../rig/private-root.ts';
import type { Ended } from '../rig/run-kubediag.ts';

/** A node that has a fault, and how to see from outside whether it is there. */
interface Sick {
  readonly node: PracticeNode;
  readonly hasFault: () => boolean;
  readonly actions: readonly string[];
  readonly words?: readonly string[];
}

const LONG_AGO = new Date('2026-01-01T00:00:00Z');

/** Each fault, made for real. A fault without its way to be made is missed by the last test. */
const MADE: Readonly<Record<string, () => Promise<Sick>>> = {
  'container-without-log-path': async () => {
    const { node, runtime } = await makeNode();
    await givePrivateRoot(node);
    await node.startKubelet({ says: { version: 'v1.34.1', pods: [podOf(WEB)] } });
    runtime.containers = [RUNNING, BROKER];
    deleteBin(node);
    const hasFault = () => binOf(node) === undefined || runtime.containers.length > 1;
    return { node, hasFault, actions: ['remove-container', 'restore-symlink'] };
  },

  'dead-volume-mount': async () => {
    const { node, target } = await makeHung('kubernetes.io~cephfs/data', { loop: 'failing' });
    const hasFault = () => mountLine(node, target) !== undefined;
    return { node, hasFault, actions: ['force-unmount'] };
  },

  'leftover-volume-directory': async () => {
    const { node } = await makeNode();
    await node.startKubelet({ says: says({ version: OLD }) });
    const folder = volumeOf(node, 'transwarp.io~tosdisk');
    for (const name of ['a.deleting~1', 'b.deleting~2']) {
      const path = node.see(join(folder, name));
      mkdirSync(path, { recursive: true });
      utimesSync(path, LONG_AGO, LONG_AGO);
    }
    const hasFault = () => readdirSync(node.see(folder)).length > 0;
    return { node, hasFault, actions: ['remove-empty-directory'] };
  },

  'orphaned-volume-metadata': async () => {
    const { node, runtime } = await makeNode();
    runtime.containers = [RUNNING];
    await node.startKubelet({ says: says() });
    const folder = volumeOf(node, 'kubernetes.io~csi/pvc-7');
    const file = join(folder, 'vol_data.json');
    node.write(file, '{"driverName":"cephfs.csi.ceph.com"}');
    for (const path of [file, folder]) utimesSync(node.see(path), LONG_AGO, LONG_AGO);
    const log = join(node.scratch, 'kubelet.log');
    const complaint = `orphaned pod \\"${ORPHAN}\\" found, but error occurred when trying to remove the volumes dir: not a directory`;
    const entry = `E1115 00:00:00.0 12 kubelet_volumes.go:263] "There were many similar errors. Turn up verbosity to see them." err="${complaint}" numErrs=1`;
    writeFileSync(log, `${new Date().toISOString()} node kubelet[12]: ${entry}\n`);
    const stored = join(node.root, 'kubediag-set-aside', ORPHAN, 'pvc-7/vol_data.json');
    const hasFault = () => existsSync(node.see(file)) || !existsSync(node.see(stored));
    return { node, hasFault, actions: ['set-aside'], words: ['--kubelet-log', log] };
  },

  'stale-subpath-mount': async () => {
    const sick = await makeNode();
    const { target } = await breakNode(sick);
    const hasFault = () => mountLine(sick.node, target) !== undefined;
    return { node: sick.node, hasFault, actions: ['unmount'] };
  },
};

/** A Diagnosis that names the graph of the fault, which nobody has to define. */
async function run(
  { node, words = [] }: Pick<Sick, 'node' | 'words'>,
  fault: string,
  ...more: readonly string[]
): Promise<{ ended: Ended; status: DiagnosisStatus }> {
  const file = join(node.scratch, 'diagnosis.json');
  const spec = { operationSet: fault, nodeName: 'here' };
  const diagnosis = { apiVersion: 'diagnosis.kubediag.org/v1', kind: 'Diagnosis', spec };
  writeFileSync(file, JSON.stringify({ ...diagnosis, metadata: { name: 'sick' } }));
  const rest = ['--node-name', 'here', '--state-dir', node.stateFolder, ...words, ...more];
  const ended = await node.kubediag('run', '-f', file, '-o', 'yaml', ...rest);
  const { status } = parse(ended.stdout) as { readonly status: DiagnosisStatus };
  return { ended, status };
}

it.each(Object.entries(MADE))(
  '%s is found and repaired by its own pipeline, and then no longer there',
  async (fault, make) => {
    const sick = await make();
    const snake = fault.replaceAll('-', '_');
    const dry = await run(sick, fault, '--dry-run');
    expect(dry.status, dry.ended.stderr).toMatchObject({ phase: 'Succeeded' });
    const { findings: [found] = [], plannedActions = [] } = dry.status;
    const named = { fault, finding: found?.id };
    expect(plannedActions).toMatchObject(sick.actions.map((kind) => ({ kind, ...named })));
    expect(plannedActions.every(({ description }) => description)).toBe(true);
    expect(found?.proof).not.toEqual([]);
    expect(sick.hasFault()).toBe(true);
    const bundles = join(sick.node.stateFolder, 'bundles');
    expect(existsSync(bundles)).toBe(false);

    const { ended, status } = await run(sick, fault, '--yes');
    expect(ended.code, ended.stderr).toBe(0);
    expect(status).toMatchObject({
      phase: 'Succeeded',
      succeededPath: [{ operation: `${fault}-diagnoser` }, { operation: `${fault}-recover` }],
      findings: [{ fault, state: expect.stringMatching(/^(active|damaged)$/) }],
      actions: plannedActions.map((planned, at) => {
        return { ...planned, state: 'done', journalEntry: at + 1 };
      }),
    });
    const id = status.findings?.[0]?.id;
    expect(status.operationResults).toEqual({
      [`diagnoser.kubernetes.${snake}.result`]: expect.stringMatching(/^(active|damaged): /),
      [`diagnoser.kubernetes.${snake}.findings`]: expect.stringContaining(`"id":"${id}"`),
      [`diagnoser.kubernetes.${snake}.bug_link`]: expect.stringMatching(/^https:/),
      [`recover.kubernetes.${snake}.result`]: `recovered ${id}`,
    });
    expect(sick.hasFault()).toBe(false);
    expect(readFileSync(join(sick.node.stateFolder, 'journal.jsonl'), 'utf8')).toContain(id);
    const [saved = '', ...others] = readdirSync(bundles);
    expect([saved, others]).toEqual([expect.stringMatching(`^\\d{8}T\\d{6}-${id}\\.tgz$`), []]);
    const replayed = await sick.node.kubediag('replay', join(bundles, saved), fault, '-o', 'name');
    expect(replayed.stdout).toContain(id);

    const again = await run(sick, fault, '--yes');
    expect(again.status).toMatchObject({
      phase: 'Failed',
      steps: [{ outcome: 'Failed' }, { outcome: 'NotRun' }],
    });
    expect(again.status.actions).toBeUndefined();
  },
);

it('no fault is left out', () => {
  // One that we only find has no pipeline that repairs it.
  const repaired = faults.filter(({ recover }) => recover !== undefined);
  expect(Object.keys(MADE)).toEqual(repaired.map(({ id }) => id));
});
