import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { faults } from '../../src/node/faults/index.ts';
import { API_VERSION } from '../../src/pipeline/api/kinds.ts';
import type { Processor } from '../../src/pipeline/api/processor-of.ts';
import { builtIns } from '../../src/pipeline/operations/catalogue.ts';
import { stepsOf } from '../../src/pipeline/operations/fault-steps.ts';
import {
  attempt,
  configWith,
  diagnosisStatus,
  event,
  IN_OURS,
  inContainer,
  lease,
  leaseHolder,
  nodeCondition,
  podOn,
  readToken,
  report,
  reportStatus,
} from './agent-pod.ts';
import { install, uninstall } from './installation.ts';
import { MIXED, NEW_NODE, OLD_NODE, type SharedCluster, sharedCluster } from './shared-cluster.ts';

/** What somebody can do who has taken over the container of an agent: as its user, with its token. */

const ATTACKER = join(import.meta.dirname, 'attacking-agent.ts');
const DECOY = '/run/decoy';
const AGENT_USER = '10090';
const POD_MS = 180_000;

let cluster: SharedCluster;
let scratch: string;
let kubeconfig: string;

beforeAll(async () => {
  cluster = await sharedCluster(MIXED);
  scratch = await mkdtemp(join(tmpdir(), 'kubediag-taken-over-'));
  await install(cluster);
  kubeconfig = await configWith(cluster, await readToken(cluster, NEW_NODE, 'agent'), scratch);
  await cluster.apply(
    { apiVersion: API_VERSION, kind: 'NodeReport', metadata: { name: OLD_NODE } },
    ...[NEW_NODE, OLD_NODE].map((nodeName) => ({
      apiVersion: API_VERSION,
      kind: 'Diagnosis',
      metadata: { name: `on-${nodeName}` },
      // Suspended, so that no agent writes it meanwhile.
      spec: { operationSet: 'set', nodeName, suspend: true },
    })),
  );
  const decoy = `mkdir -p ${DECOY} && mount -t tmpfs decoy ${DECOY} && echo precious > ${DECOY}/file`;
  await cluster.node(NEW_NODE).run(['sh', '-c', decoy]);
  // So that there is something to write.
  await cluster.kubectl('wait', '--for=create', `lease/${OLD_NODE}`, IN_OURS, '--timeout=60s');
}, POD_MS);

afterAll(async () => {
  await cluster.node(NEW_NODE).run(['umount', DECOY]);
  await uninstall(cluster);
  await rm(scratch, { recursive: true, force: true });
}, POD_MS);

const inAgent = (script: string) => inContainer(cluster, NEW_NODE, 'agent', 'sh', '-c', script);

describe('the container has nothing of the node', () => {
  it('no user, no capability, no way to get one', async () => {
    const { stdout } = await inAgent('id -u; cat /proc/self/status');
    expect(stdout).toMatch(/^10090\n/);
    expect(stdout).toMatch(/CapEff:\t0+\nCapBnd:\t0+\n/);
    expect(stdout).toMatch(/NoNewPrivs:\t1\n/);
    expect(stdout).toMatch(/Seccomp:\t2\n/);
  });

  it('no file, no process, no device, no socket of a runtime', async () => {
    const { stdout: mounts } = await inAgent('cat /proc/self/mountinfo');
    expect(mounts).not.toMatch(/ \/host | \/var\/lib\/kubediag | \/etc\/kubediag /);
    const { stdout: processes } = await inAgent('cat /proc/[0-9]*/cmdline');
    expect(processes).toContain('agent');
    expect(processes).not.toMatch(/kubelet|containerd|--host-root/);
    for (const command of [
      'ls /host',
      'cat /etc/kubediag/policy.yaml',
      'ls /var/lib/kubediag',
      'ls /run/containerd/containerd.sock',
      'echo > /new',
      'mount -t tmpfs tmpfs /run/kubediag',
      'umount /run/kubediag',
      'nsenter --target 1 --mount true',
    ]) {
      const { code, stderr } = await inAgent(command);
      expect(code, `${command}: ${stderr}`).not.toBe(0);
      expect(stderr).toMatch(/No such file|Read-only|ermission|permitted|not found|superuser/);
    }
  });
});

interface Answer {
  readonly type: 'result' | 'refused';
  readonly id: number;
  readonly why?: string;
  readonly value?: unknown;
}

/** Ends the agent, takes its place at the socket, and asks the executor. */
async function ask(...requests: readonly object[]): Promise<readonly Answer[]> {
  const pod = await podOn(cluster, NEW_NODE);
  const volumes = `/var/lib/kubelet/pods/${pod?.metadata.uid}/volumes`;
  // The file system of the container is read-only, so the attacker's program runs beside it.
  const user = [`--reuid=${AGENT_USER}`, `--regid=${AGENT_USER}`, '--clear-groups'].join(' ');
  const attack = `cd ${volumes}/kubernetes.io~empty-dir/socket && exec setpriv ${user} ${process.execPath} ${ATTACKER}`;
  const answers = cluster
    .node(NEW_NODE)
    .run(['sh', '-c', attack], { input: JSON.stringify(requests) });
  // An agent that starts again can be faster than the attacker, and has the executor then.
  let ended: Awaited<typeof answers> | undefined;
  while (!ended) {
    await inAgent('kill -9 -1');
    ended = await Promise.race([answers, sleep(10_000, undefined)]);
  }
  const { stdout, stderr } = ended;
  const given = JSON.parse(stdout || 'null') as readonly Answer[] | null;
  expect(given, stderr).toHaveLength(requests.length);
  return (given ?? []).toSorted((left, right) => left.id - right.id);
}

let purposes = 0;

/** A made-up plan, approved, which would unmount the decoy, for made-up findings of every fault. */
function step(processor: Processor, nodeName = NEW_NODE): object {
  purposes += 1;
  const plan = '0123456789abcdef';
  const action = { kind: 'unmount', description: `unmount ${DECOY}`, plan, digest: plan };
  return {
    kind: 'run-step',
    name: 'attack',
    processor,
    diagnosis: {
      ...{
        namespace: 'default',
        name: 'attack',
        uid: '0f8fad5b-d9cb-469f-a165-70867728950e',
        nodeName,
      },
      spec: { recovery: 'Automatic', approvedPlan: plan },
      status: { plan, plannedActions: [action] },
    },
    input: {
      'diagnoser.kubernetes.subpath_remount.original_destination_path': DECOY,
      'diagnoser.kubernetes.subpath_remount.original_source_path': `${DECOY}/file//deleted`,
      ...Object.fromEntries(faults.map((fault) => [stepsOf(fault).findings, '[{"id":"000000"}]'])),
    },
    purpose: `attack-${purposes}`,
  };
}

describe('the executor', () => {
  it('runs no program, asks no server, and does nothing for another node', async () => {
    const own = { way: 'http', timeoutSeconds: 60, scheme: 'http' } as const;
    const [script, code, server, elsewhere] = await ask(
      step({ way: 'script', timeoutSeconds: 5, script: `umount ${DECOY}`, argKeys: [] }),
      step({
        way: 'function',
        timeoutSeconds: 5,
        codeSource: { 'function.py': '' },
        runtime: 'Python3',
      }),
      step({ ...own, address: '10.97.0.1', port: 6443, path: '/' }),
      step({ ...own, path: '/processor/mountInfoCollector' }, OLD_NODE),
    );
    expect(script?.value).toMatchObject({ succeeded: false, reason: 'Refused' });
    expect(code?.value).toMatchObject({ succeeded: false, reason: 'Refused' });
    expect(server?.value).toMatchObject({ succeeded: false, reason: 'Refused' });
    expect(elsewhere?.value).toMatchObject({
      succeeded: false,
      message: `refused: node ${OLD_NODE}: not this node (this is ${NEW_NODE})`,
    });
  });

  it('refuses requests that it does not know', async () => {
    const answers = await ask(
      { kind: 'exec', command: 'id' },
      { kind: 'perform', actions: [{ kind: 'unmount', path: DECOY }] },
      { ...step({ way: 'script', timeoutSeconds: 5, script: '', argKeys: [] }), force: true },
      { kind: 'remove-results', uid: '../../..' },
    );
    expect(answers.map(({ type }) => type)).toEqual(['refused', 'refused', 'refused', 'refused']);
  });

  it('reads no file but those that steps have collected', async () => {
    const paths = [
      '/etc/shadow',
      '/host/etc/shadow',
      '../../etc/shadow',
      'journal',
      'results/../../x',
    ];
    const answers = await ask(...paths.map((path) => ({ kind: 'read-file', path, offset: 0 })));
    for (const { type, value } of answers) expect(type === 'refused' || value === null).toBe(true);
  });

  it('repairs nothing on a healthy node, whatever plan is approved', async () => {
    const repairs = [...builtIns.operations].filter(([name]) => name.endsWith('-recover'));
    expect(repairs.length).toBeGreaterThan(3);
    const node = cluster.node(NEW_NODE);
    // Other tests may have repaired the node of this cluster before.
    const journal = await node.run(['dist/kubediag', 'journal']);
    expect(journal.code, journal.stderr).toBe(0);
    const answers = await ask(...repairs.map(([, processor]) => step(processor)));
    const ofFaults = new Set(faults.map((fault) => stepsOf(fault).recover));
    for (const [index, [name]] of repairs.entries()) {
      const text = JSON.stringify(answers[index]?.value);
      expect(text, name).not.toMatch(/"succeeded":true|"state":"done"/);
      if (ofFaults.has(name)) expect(text, name).toContain('a new check does not find that 000000');
    }
    expect(await node.run(['cat', `${DECOY}/file`])).toMatchObject({ stdout: 'precious\n' });
    expect(await node.run(['dist/kubediag', 'journal'])).toEqual(journal);
  });
});

describe('the API server', () => {
  it.each([
    ['the status of its Diagnosis', diagnosisStatus(OLD_NODE)],
    ['its NodeReport', report(OLD_NODE)],
    ['the status of its NodeReport', reportStatus(OLD_NODE)],
    ['its Lease', lease(OLD_NODE)],
    ['the holder of its Lease', leaseHolder(OLD_NODE)],
    ['the condition of its Node', nodeCondition(OLD_NODE)],
    ['an Event about its Node', event({ kind: 'Node', name: OLD_NODE }, NEW_NODE)],
    ['an Event in its name', event({ kind: 'Node', name: NEW_NODE }, OLD_NODE)],
  ])('permits no write for another node: %s', async (_, wanted) => {
    const before = await cluster.kubectl('get', 'nodereports,leases', IN_OURS, '-o=name');
    expect(await attempt(cluster, wanted, kubeconfig)).toContain('Forbidden');
    expect(await cluster.kubectl('get', 'nodereports,leases', IN_OURS, '-o=name')).toBe(before);
  });

  it('does not let it change whether its node is ready', async () => {
    const refusal = await attempt(cluster, nodeCondition(NEW_NODE, 'Ready'), kubeconfig);
    expect(refusal).toContain('the agent may only write NodeFault');
  });

  it('gives it no way to kubelets, Secrets and tokens, nor into pods', async () => {
    const pod = (await podOn(cluster, NEW_NODE))?.metadata.name ?? '';
    for (const args of [
      ['get', '--raw', `/api/v1/nodes/${OLD_NODE}/proxy/pods`],
      ['get', 'secrets', '--all-namespaces'],
      ['exec', IN_OURS, pod, '--', 'id'],
      ['logs', IN_OURS, pod, '--container=executor'],
      ['create', 'token', 'kubediag-agent', IN_OURS],
    ]) {
      expect(await attempt(cluster, { args }, kubeconfig)).toMatch(/forbidden/i);
    }
  });
});
