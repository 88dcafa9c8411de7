import { readlink, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { CURRENT, LAST_WITH_STALE_SUBPATH } from '../../tools/cluster/kubernetes-recipes.ts';
import { bpftracePackages } from '../rig/bpftrace.ts';
import { EXECUTABLE, type Running, startProgram } from '../rig/run-kubediag.ts';
import { ClusterCheck, type FaultAnswer } from './cluster-check.ts';
import { makeUnloggedContainer } from './unlogged-container.ts';
import { entries, setUpWorkingFolder, workingFolder } from './working-folder.ts';

const FAULT = 'container-without-log-path';
const SOON = { timeout: 30_000, interval: 100 };
const SLOW = { timeout: 90_000, interval: 2_000 };
/** The kubelet collects once a minute. */
const COLLECTION_MS = 65_000;
/** Of an orphaned pod. */
const POD_UID = '6f1f9c5e-5b0e-4a52-9d0f-0c1d2e3f4a5b';

/** The chain that the first who met this fault had to rebuild his kubelet for. */
const CHAIN = [
  'os.Remove',
  'container.(*RealOS).Remove',
  'logs.(*containerLogManager).Clean',
  'kuberuntime.(*kubeGenericRuntimeManager).removeContainerLog',
  'kuberuntime.(*kubeGenericRuntimeManager).removeContainer',
];

let restoredAt = 0;
let current: ClusterCheck;

/** From the first container to the cure: each test begins where the one before ended. */
describe(`containers without a log path under kubelet ${CURRENT}`, () => {
  let known: readonly string[];
  let runner = '';

  beforeAll(async () => {
    current = await ClusterCheck.begin(CURRENT, FAULT);
    const { cluster } = current;
    await setUpWorkingFolder(current);
    await current.applyPod('known');
    await cluster.kubectl('wait', '--for=condition=Ready', 'pod/known', '--timeout=60s');
    known = await current.containerIds();
    cluster.parts.kubelet.pause();
    await makeUnloggedContainer(cluster, { name: 'plain', command: ['true'] });
    await makeUnloggedContainer(cluster, { name: 'runner', command: ['sleep', '1000'] });
    const labelled = { name: 'labelled', podUid: POD_UID, command: ['true'] };
    await makeUnloggedContainer(cluster, labelled);
  });

  it('are latent while the kubelet does nothing, with exactly what it would delete', async () => {
    const fault = await current.check(FAULT);
    expect(fault).toMatchObject({ code: 1, verdict: 'found' });
    expect(statesOf(fault)).toEqual({ plain: 'latent', labelled: 'latent', runner: 'latent' });
    for (const finding of fault.findings) {
      expect(textsOf(finding)).toContain('"logPath": ""');
      expect(textsOf(finding)).toContain(workingFolder(current));
      expect(textsOf(finding)).toContain('bin; stops at boot (directory not empty)');
    }
    runner = fault.findings.find(({ subject }) => subject.container === 'runner')?.id ?? '';
  });

  it('that run are left alone by recover, for nobody knows what they are for', async () => {
    const ended = await current.recover('--finding', runner);
    expect(ended.code).toBe(1);
    expect(ended.stdout).toMatch(/no automatic repair\b.*runs/s);
    expect(entries(current)).toEqual(['bin', 'boot', 'etc']);
  });

  it('cost the kubelet its bin once it goes on, and trace names the functions that did it', async () => {
    const tracing = await trace(current);
    current.cluster.parts.kubelet.resume();
    await expect.poll(() => entries(current), SOON).toEqual(['boot', 'etc']);
    const { stdout } = await tracing.end;
    const [first] = (JSON.parse(stdout) as { deletions: readonly Deletion[] }).deletions;
    expect(first?.path).toContain(`${workingFolder(current)}/b`);
    expect(first?.process.name).toBe('kubelet');
    const functions = (first?.stack ?? []).map((frame) => frame.function ?? '');
    const from = functions.indexOf('os.Remove');
    expect(functions.slice(from, from + CHAIN.length).map(shortName)).toEqual(CHAIN);
  });

  it('are active then, with the line in which the kubelet says so', async () => {
    const output = () => current.kubeletLogged().includes('log \\"boot\\": remove boot');
    await expect.poll(output, SOON).toBe(true);
    const fault = await current.check(FAULT);
    const labelled = fault.findings.find(({ subject }) => subject.container === 'labelled');
    expect(labelled).toMatchObject({ state: 'active', reason: 'DeletesWorkingFolder' });
    expect(textsOf(labelled)).toContain('log \\"boot\\": remove boot: directory not empty');
    expect(textsOf(labelled)).toContain('stops at boot (directory not empty)');
  });

  it('are removed by recover, and no container of a pod is touched', async () => {
    // The kubelet kills the one that runs within seconds.
    const states = async () => (await current.check(FAULT)).findings.map(({ reason }) => reason);
    await expect.poll(states, SLOW).not.toContain('RunsWithoutLogPath');
    const ended = await current.recover('--latent');
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining('done') });
    expect(await current.check(FAULT)).toMatchObject({ code: 0, verdict: 'clear', findings: [] });
    expect(await current.containerIds()).toEqual(known);
    await symlink('usr/bin', join(workingFolder(current), 'bin'));
    restoredAt = Date.now();
  });
});

describe(`a container without a log path under kubelet ${LAST_WITH_STALE_SUBPATH}`, () => {
  it('is harmless: the kubelet removes it, and nothing else', async () => {
    const clusterCheck = await ClusterCheck.begin(LAST_WITH_STALE_SUBPATH, FAULT);
    await setUpWorkingFolder(clusterCheck);
    clusterCheck.cluster.parts.kubelet.pause();
    await makeUnloggedContainer(clusterCheck.cluster, { name: 'plain', command: ['true'] });
    const fault = await clusterCheck.check(FAULT);
    expect(fault).toMatchObject({ code: 0, verdict: 'clear' });
    expect(fault.findings).toMatchObject([{ state: 'benign', reason: 'OldKubelet' }]);
    clusterCheck.cluster.parts.kubelet.resume();
    await expect.poll(async () => (await clusterCheck.check(FAULT)).findings, SLOW).toEqual([]);
    expect(entries(clusterCheck)).toEqual(['bin', 'boot', 'etc']);
  });
});

describe(`one collection later, kubelet ${CURRENT}`, () => {
  it('has left the restored bin where it is', async () => {
    await sleep(Math.max(0, restoredAt + COLLECTION_MS - Date.now()));
    expect(await readlink(join(workingFolder(current), 'bin'))).toBe('usr/bin');
    expect(entries(current)).toEqual(['bin', 'boot', 'etc']);
  });
});

interface Deletion {
  readonly path: string;
  readonly process: { readonly name: string };
  readonly stack: readonly { readonly function: string | null }[];
}

function statesOf({ findings }: FaultAnswer): Readonly<Record<string, string>> {
  const states = findings.map(({ subject, state }) => [subject.container ?? '', state] as const);
  return Object.fromEntries<string>(states);
}

function textsOf(finding: FaultAnswer['findings'][number] | undefined): string {
  return (finding?.proof ?? []).map(({ claim, text = '' }) => `${claim}: ${text}`).join('\n');
}

/** Begins to watch the directory, and comes back when nothing can be missed any more. */
async function trace(clusterCheck: ClusterCheck): Promise<Running> {
  const packages = await bpftracePackages();
  if ('missing' in packages) throw new Error(packages.missing);
  const folder = workingFolder(clusterCheck);
  const limits = ['--seconds', '30', '--lines', '1', '-o', 'json'];
  const args = ['trace', 'deletions', folder, ...limits, '--bpftrace', packages.program];
  const { environment } = packages;
  const tracing = startProgram([...clusterCheck.cluster.enter, EXECUTABLE, ...args], {
    environment,
  });
  await tracing.hasSaid('press Ctrl-C');
  return tracing;
}

// k8s.io/kubernetes/pkg/kubelet/logs.(*containerLogManager).Clean
function shortName(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}
