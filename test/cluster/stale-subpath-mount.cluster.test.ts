import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { CURRENT, LAST_WITH_STALE_SUBPATH } from '../../tools/cluster/kubernetes-recipes.ts';
import type { Ended } from '../../tools/cluster/node.ts';
import type { PartName } from '../../tools/cluster/parts.ts';
import { mountChanges, mountTablesNaming } from '../rig/mount-tables.ts';
import { expectPrintedStatus, type PrintedDiagnosis } from '../rig/printed-status.ts';
import { EXECUTABLE, reportOf } from '../rig/run-kubediag.ts';
import { ClusterCheck, type FaultAnswer, withoutHash } from './cluster-check.ts';
import { expectAllClear } from './expect-all-clear.ts';
import { NODE } from './shared-cluster.ts';
import { AFTER, applyTenPods, CHANGING, changeContents, FILE_OF, MANUALS_POD } from './ten-pods.ts';

const FAULT = 'stale-subpath-mount';
const MANUAL = join(import.meta.dirname, '../manifests/subpath-remount.yaml');
const SLOW = { timeout: 120_000, interval: 1_000 };

/** One node from health to its cure: each test begins where the one before ended. */
describe(`ten pods under kubelet ${LAST_WITH_STALE_SUBPATH}`, () => {
  const clusterCheck = upToTheRestart(LAST_WITH_STALE_SUBPATH, 'latent');
  let cured: string | undefined;

  it('is active when the containers are killed, and proves it', async () => {
    for (const pod of CHANGING) await clusterCheck().killContainer(pod);
    const looping = Object.fromEntries(CHANGING.map((pod) => [pod, 'CrashLoopBackOff']));
    await expect.poll(() => clusterCheck().containerStates(), SLOW).toMatchObject(looping);
    const fault = await clusterCheck().check();
    expectStates(fault, 'active');
    for (const { subject, proof } of fault.findings) {
      const line = clusterCheck()
        .staleMounts()
        .find((mount) => mount.includes(` ${subject.mount} `));
      const texts = proof.map(({ claim, text = '' }) => `${claim}: ${text}`).join('\n');
      expect(texts).toContain(line);
      expect(texts).toContain(`error mounting "${subject.mount}" to rootfs at`);
      expect(texts).toContain(`kubelet ${LAST_WITH_STALE_SUBPATH} does not repair this by itself`);
    }
  });

  it('is active too when asked from inside a pod', async () => {
    expectStates(clusterCheck().answerOf(await checkFromPod(clusterCheck())), 'active');
  });

  sameWithMissingParts(clusterCheck, 'active');

  it('is cured for one pod by the manifests of the manual, with the status that it prints', async () => {
    const uid = await clusterCheck().uidOf('core2');
    const line =
      clusterCheck()
        .staleMounts()
        .find((each) => each.includes(uid)) ?? '';
    const state = ['--state-dir', join(clusterCheck().cluster.scratch, 'state-of-the-manual')];
    // The kubelet was just started again, and learns of its pods one after another.
    const listed = ['kubectl', 'get', `--raw=/api/v1/nodes/${NODE}/proxy/pods`];
    const list = async () => (await clusterCheck().cluster.run(listed)).stdout;
    await expect.poll(list, SLOW).toContain(MANUALS_POD);
    const args = [
      'run',
      '-f',
      MANUAL,
      '--yes',
      '-o',
      'yaml',
      ...state,
      ...clusterCheck().credential,
    ];
    const ended = await clusterCheck().kubediag(...args);
    expect(ended.code, ended.stderr).toBe(0);
    const detail = expectPrintedStatus(parse(ended.stdout) as PrintedDiagnosis, line);
    expect(JSON.parse(detail)).toMatchObject({ kind: 'Pod', metadata: { name: MANUALS_POD, uid } });
    expect(clusterCheck().staleMounts()).not.toContain(line);
    // Its container starts when the kubelet tries again, which the next test waits for.
    cured = targetOf(rootAndTarget(`- ${line}`));
  });

  it('is cured by recover, which ends when the pods run on the changed content', async () => {
    const before = mountTablesNaming(clusterCheck().cluster.scratch);
    const stale = clusterCheck().staleMounts();
    const ended = await clusterCheck().kubediag('recover', FAULT, '--yes', '--wait');
    const changes = mountChanges(before, mountTablesNaming(clusterCheck().cluster.scratch));
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining('healed') });
    await expectAllAreWell(clusterCheck());

    // What the kubelet and containerd mount whenever they try to start a container comes and goes.
    const others = (sign: string) =>
      changes
        .filter((line) => line.startsWith(sign))
        .map(rootAndTarget)
        .filter((text) => !text.endsWith('/rootfs'));
    const gone = others('- ');
    expect(new Set(gone)).toEqual(new Set(stale.map((line) => rootAndTarget(`- ${line}`))));
    const targets = others('+ ')
      .map(targetOf)
      .filter((target) => target !== cured);
    expect(new Set(targets)).toEqual(new Set(gone.map(targetOf)));
  });
});

describe(`ten pods under kubelet ${CURRENT}`, () => {
  const clusterCheck = upToTheRestart(CURRENT, 'benign');

  it('is repaired by the kubelet when the containers are killed', async () => {
    for (const pod of CHANGING) await clusterCheck().killContainer(pod);
    await expect.poll(() => clusterCheck().staleMounts(), SLOW).toEqual([]);
    await expect
      .poll(() => clusterCheck().containerStates(), SLOW)
      .toMatchObject(Object.fromEntries(CHANGING.map((pod) => [pod, 'running'])));
    await expectAllAreWell(clusterCheck());
  });
});

/** What is the same on both but for the state: health, the change of content, missing parts. */
function upToTheRestart(kubelet: string, state: 'latent' | 'benign'): () => ClusterCheck {
  let started: ClusterCheck | undefined;
  const clusterCheck = () => {
    if (!started) throw new Error('the cluster did not start');
    return started;
  };

  beforeAll(async () => {
    started = await ClusterCheck.begin(kubelet, FAULT);
    await applyTenPods(started.cluster);
  });

  it('is clear while all is well, as every fault is, with and without leave to ask the kubelet', async () => {
    const token = await kubeletToken(clusterCheck());
    for (const args of [[], clusterCheck().credential, ['--kubelet-token-file', token]]) {
      const ended = await clusterCheck().kubediag('check', '-o', 'json', ...args);
      expectAllClear(ended);
      expect(reportOf(ended).node).toMatchObject({ pods: 10, kubelet: { version: kubelet } });
    }
  });

  it('is clear too when asked from inside a pod, as every fault is', async () => {
    expectAllClear(await checkFromPod(clusterCheck()));
  });

  it(`is ${state} once the contents changed`, async () => {
    await changeContents(clusterCheck().cluster);
    await expect.poll(() => clusterCheck().staleMounts().length, SLOW).toBe(CHANGING.length);
    expectStates(await clusterCheck().check(), state);
  });

  sameWithMissingParts(clusterCheck, state);

  return clusterCheck;
}

/** The verdict needs no API server and no kubelet, but it does need the runtime. */
function sameWithMissingParts(
  clusterCheck: () => ClusterCheck,
  state: 'latent' | 'active' | 'benign',
): void {
  it.each(['kube-apiserver', 'kubelet'] as const)(`is ${state} without %s too`, async (part) => {
    expectStates(await checkWithout(clusterCheck(), part), state);
  });

  it(`is unknown without containerd where it was ${state}, and says why`, async () => {
    const { code, verdict, reason } = await checkWithout(clusterCheck(), 'containerd');
    expect({ code, verdict }).toEqual({ code: 2, verdict: 'unknown' });
    expect(reason).toContain('nothing listens at /run/containerd/containerd.sock');
  });
}

function checkFromPod({ cluster }: ClusterCheck): Promise<Ended> {
  const args = ['check', '-o', 'json', '--host-root', '/host'];
  return cluster.run(['kubectl', 'exec', 'doctor', '--', EXECUTABLE, ...args]);
}

async function kubeletToken({ cluster }: ClusterCheck): Promise<string> {
  const { namespace } = cluster;
  const file = join(cluster.scratch, `token-of-${namespace}`);
  const subject = `--serviceaccount=${namespace}:doctor`;
  const role = ['--clusterrole=system:kubelet-api-admin', subject];
  await cluster.kubectl('create', 'serviceaccount', 'doctor');
  // A binding belongs to no namespace, so its name has to be unique.
  await cluster.kubectl('create', 'clusterrolebinding', `doctor-of-${namespace}`, ...role);
  await cluster.run(['sh', '-c', `kubectl create token doctor >${file}`]);
  return file;
}

/** What check says while a part is stopped; later tests find the node whole again. */
async function checkWithout(clusterCheck: ClusterCheck, part: PartName): Promise<FaultAnswer> {
  const { parts } = clusterCheck.cluster;
  await parts[part].stop('SIGKILL');
  const fault = await clusterCheck.check(FAULT);
  await parts[part].start();
  const healthz = `--raw=/api/v1/nodes/${NODE}/proxy/healthz`;
  const answer = async () => (await clusterCheck.cluster.run(['kubectl', 'get', healthz])).stdout;
  await expect.poll(answer, SLOW).toBe('ok');
  await expect.poll(async () => (await clusterCheck.check()).verdict, SLOW).not.toBe('unknown');
  return fault;
}

/** The pods whose content changed, each in this state, and no other. */
function expectStates(fault: FaultAnswer, state: 'latent' | 'active' | 'benign'): void {
  const found = fault.findings.map(
    (finding) => `${withoutHash(finding.subject.pod ?? '')}: ${finding.state}`,
  );
  expect(found.toSorted()).toEqual(CHANGING.map((pod) => `${pod}: ${state}`));
  const isWell = state === 'benign';
  expect(fault).toMatchObject({ code: isWell ? 0 : 1, verdict: isWell ? 'clear' : 'found' });
}

async function expectAllAreWell(clusterCheck: ClusterCheck): Promise<void> {
  // Only a container that runs can be entered. The API server hears of it a moment later. What a
  // command says that ends at once is lost now and then, by the old kubelet on a busy machine.
  for (const pod of CHANGING) {
    const content = () => clusterCheck.contentOf(pod, FILE_OF[pod]);
    await expect.poll(content, { timeout: 10_000 }).toBe(AFTER[pod]);
  }
  const states = async () => new Set(Object.values(await clusterCheck.containerStates()));
  await expect.poll(states, SLOW).toEqual(new Set(['running']));
  expect(await clusterCheck.check()).toMatchObject({ code: 0, verdict: 'clear', findings: [] });
}

function targetOf(text: string): string | undefined {
  return text.split(' ')[1];
}

// - 99 66 254:0 /pods/u-1/app.conf//deleted /host/var/lib/kubelet/pods/u-1/... rw - ext4 /dev/vda rw
/** Below /host a pod sees the node's mounts, as they come and go. */
function rootAndTarget(change: string): string {
  const [, , , , root, target] = change.split(' ');
  return `${root} ${target?.replace(/^[/]host[/]/, '/')}`;
}
