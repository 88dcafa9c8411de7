import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FaultReport } from '../../src/checkup/report.ts';
import type { Cluster, Ended } from '../../tools/cluster/cluster.ts';
import { CURRENT, LAST_WITH_STALE_SUBPATH } from '../../tools/cluster/kubernetes-recipes.ts';
import type { PartName } from '../../tools/cluster/parts.ts';
import { startCluster } from '../../tools/cluster/start-cluster.ts';
import { containerProcess } from '../rig/container-process.ts';
import { mountChanges, mountTablesNaming } from '../rig/mount-tables.ts';
import { EXECUTABLE, reportOf } from '../rig/run-kubediag.ts';
import { applyTenPods, CHANGING, changeContents, FILE_OF } from './ten-pods.ts';

const FAULT = 'stale-subpath-mount';
const SLOW = { timeout: 120_000, interval: 1_000 };

/** One node from health to its cure: each test begins where the one before ended. */
describe.each([
  { kubelet: LAST_WITH_STALE_SUBPATH, repairsItself: false },
  { kubelet: CURRENT, repairsItself: true },
])('ten pods under kubelet $kubelet', ({ kubelet, repairsItself }) => {
  let folder: string;
  let cluster: Cluster;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kd-'));
    cluster = await startCluster({ name: 'node-1', kubelet, scratch: join(folder, 'c') });
    await applyTenPods(cluster);
  });

  afterAll(async () => {
    await cluster?.stop();
    await rm(folder, { recursive: true });
  });

  function kubediag(...words: readonly string[]): Promise<Ended> {
    return cluster.run([EXECUTABLE, ...words], { limitMs: 280_000 });
  }

  async function check(
    ...words: readonly string[]
  ): Promise<{ code: number | null } & FaultReport> {
    return faultOf(await kubediag('check', '-o', 'json', ...words));
  }

  /** "core2" for the Deployment's pod, whatever it is called in full. */
  async function podNames(): Promise<ReadonlyMap<string, string>> {
    const text = await cluster.kubectl('get', 'pods', '-o=jsonpath={.items[*].metadata.name}');
    return new Map(text.split(' ').map((name) => [name.replace(/^core2-.*/, 'core2'), name]));
  }

  async function contentOf(pod: (typeof CHANGING)[number]): Promise<string> {
    const name = (await podNames()).get(pod) ?? '';
    return cluster.kubectl('exec', name, '--', 'cat', FILE_OF[pod]);
  }

  /** What each pod's only container waits for, or "running". */
  async function containerStates(): Promise<Readonly<Record<string, string>>> {
    const { items } = JSON.parse(await cluster.kubectl('get', 'pods', '-o=json')) as PodList;
    return Object.fromEntries(
      items.map(({ metadata, status }) => {
        const { state } = status.containerStatuses?.[0] ?? {};
        return [
          metadata.name.replace(/^core2-.*/, 'core2'),
          state?.waiting?.reason ?? Object.keys(state ?? {})[0] ?? '',
        ];
      }),
    );
  }

  function staleMounts(): readonly string[] {
    const table = readFileSync(`/proc/${cluster.pid}/mountinfo`, 'utf8');
    return table.split('\n').filter((line) => line.includes('//deleted '));
  }

  it('is clear while all is well, with and without leave to ask the kubelet', async () => {
    const token = join(cluster.scratch, 'token');
    await cluster.kubectl('create', 'serviceaccount', 'doctor');
    const role = '--clusterrole=system:kubelet-api-admin';
    await cluster.kubectl(
      'create',
      'clusterrolebinding',
      'doctor',
      role,
      '--serviceaccount=default:doctor',
    );
    await cluster.run(['sh', '-c', `kubectl create token doctor >${token}`]);
    const certificate = join(cluster.scratch, 'kubernetes/apiserver-kubelet');
    const pair = ['--kubelet-cert', `${certificate}.crt`, '--kubelet-key', `${certificate}.key`];
    for (const words of [[], pair, ['--kubelet-token-file', token]]) {
      const ended = await kubediag('check', '-o', 'json', ...words);
      expect(faultOf(ended)).toMatchObject({ code: 0, verdict: 'clear', findings: [] });
      expect(reportOf(ended).node).toMatchObject({ pods: 10, kubelet: { version: kubelet } });
    }
  });

  it('is clear too when asked from inside a privileged pod', async () => {
    const words = ['check', '-o', 'json', '--host-root', '/host'];
    const ended = await cluster.run(['kubectl', 'exec', 'doctor', '--', EXECUTABLE, ...words]);
    expect(faultOf(ended)).toMatchObject({ code: 0, verdict: 'clear', findings: [] });
  });

  it(`is ${repairsItself ? 'harmless' : 'latent'} once the contents changed`, async () => {
    await changeContents(cluster);
    await expect.poll(() => staleMounts().length, SLOW).toBe(CHANGING.length);
    expectStates(await check(), repairsItself ? 'benign' : 'latent');
  });

  /** What check says while a part is stopped; later tests find the node whole again. */
  async function checkWithout(part: PartName): ReturnType<typeof check> {
    await cluster.parts[part].stop('SIGKILL');
    const fault = await check();
    await cluster.parts[part].start();
    const healthz = `--raw=/api/v1/nodes/${cluster.name}/proxy/healthz`;
    const answer = async () => (await cluster.run(['kubectl', 'get', healthz])).stdout;
    await expect.poll(answer, SLOW).toBe('ok');
    await expect.poll(async () => (await check()).verdict, SLOW).not.toBe('unknown');
    return fault;
  }

  it.each(['kube-apiserver', 'kubelet'] as const)('says the same without %s', async (part) => {
    expectStates(await checkWithout(part), repairsItself ? 'benign' : 'latent');
  });

  it('is unknown without containerd, and says why', async () => {
    const { code, verdict, reason } = await checkWithout('containerd');
    expect({ code, verdict }).toEqual({ code: 2, verdict: 'unknown' });
    expect(reason).toContain('nobody listens at /run/containerd/containerd.sock');
  });

  async function killContainers(): Promise<void> {
    const names = await podNames();
    for (const pod of CHANGING) {
      const path = '-o=jsonpath={.status.containerStatuses[0].containerID}';
      const id = await cluster.kubectl('get', 'pod', names.get(pod) ?? '', path);
      process.kill(containerProcess(id.replace('containerd://', '')), 'SIGKILL');
    }
  }

  const after = {
    core2: 'rotate 8\n',
    'with-labels': 'name="with-labels"\nsaid="after"',
    'with-projected': 'after\n',
    'with-secret': 'after\n',
  };

  async function expectAllAreWell(): Promise<void> {
    const states = await containerStates();
    expect(new Set(Object.values(states))).toEqual(new Set(['running']));
    for (const pod of CHANGING) expect(await contentOf(pod)).toBe(after[pod]);
    expect(await check()).toMatchObject({ code: 0, verdict: 'clear', findings: [] });
  }

  if (repairsItself) {
    it('repairs itself when the containers are killed', async () => {
      await killContainers();
      await expect.poll(() => staleMounts(), SLOW).toEqual([]);
      const states = async () => new Set(Object.values(await containerStates()));
      await expect.poll(states, SLOW).toEqual(new Set(['running']));
      await expectAllAreWell();
    });
    return;
  }

  it('is active when the containers are killed, and proves it', async () => {
    await killContainers();
    const looping = Object.fromEntries(CHANGING.map((pod) => [pod, 'CrashLoopBackOff']));
    await expect.poll(() => containerStates(), SLOW).toMatchObject(looping);
    const fault = await check();
    expectStates(fault, 'active');
    for (const { subject, proof } of fault.findings) {
      const line = staleMounts().find((mount) => mount.includes(` ${subject.mount} `));
      const texts = proof.map(({ claim, text = '' }) => `${claim}: ${text}`).join('\n');
      expect(texts).toContain(line);
      expect(texts).toContain(`error mounting "${subject.mount}" to rootfs at`);
      expect(texts).toContain(`kubelet ${kubelet} does not repair this by itself`);
    }
  });

  it('is cured by recover, which ends when the pods run on the changed content', async () => {
    const before = mountTablesNaming(folder);
    const stale = staleMounts();
    const ended = await kubediag('recover', FAULT, '--yes', '--wait');
    expect(ended).toMatchObject({ code: 0 });
    const changes = mountChanges(before, mountTablesNaming(folder));
    await expectAllAreWell();

    const gone = changes.filter((line) => line.startsWith('- ')).map(rootAndTarget);
    expect(new Set(gone)).toEqual(new Set(stale.map((line) => rootAndTarget(`- ${line}`))));
    // What the kubelet and containerd mount to start the containers.
    const made = changes.filter((line) => line.startsWith('+ ')).map(rootAndTarget);
    const others = made.filter((text) => !text.endsWith('/rootfs'));
    const targetOf = (text: string) => text.split(' ')[1];
    expect(new Set(others.map(targetOf))).toEqual(new Set(gone.map(targetOf)));
  });
});

// - 99 66 254:0 /pods/u-1/app.conf//deleted /host/var/lib/kubelet/pods/u-1/... rw - ext4 /dev/vda rw
/** Below /host a privileged pod sees the node's mounts, as they come and go. */
function rootAndTarget(change: string): string {
  const [, , , , root, target] = change.split(' ');
  return `${root} ${target?.replace(/^[/]host[/]/, '/')}`;
}

interface PodList {
  readonly items: readonly {
    readonly metadata: { readonly name: string };
    readonly status: {
      readonly containerStatuses?: readonly {
        readonly state: { readonly waiting?: { readonly reason: string } };
      }[];
    };
  }[];
}

function faultOf(ended: Ended): { code: number | null } & FaultReport {
  const fault = reportOf(ended).faults.find(({ name }) => name === FAULT);
  if (!fault) throw new Error(`no ${FAULT} in ${ended.stdout}`);
  return { code: ended.code, ...fault };
}

/** The pods whose content changed, each in this state, and no other. */
function expectStates(fault: { code: number | null } & FaultReport, state: string): void {
  const found = fault.findings.map((finding) => [
    finding.subject.pod?.replace(/^core2-.*/, 'core2'),
    finding.state,
  ]);
  expect(found.toSorted()).toEqual(CHANGING.map((pod) => [pod, state]));
  const isWell = state === 'benign';
  expect(fault).toMatchObject({ code: isWell ? 0 : 1, verdict: isWell ? 'clear' : 'found' });
}
