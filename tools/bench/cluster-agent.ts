import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseAllDocuments } from 'yaml';
import { install } from '../../test/cluster/installation.ts';
import { makeSickPod } from '../../test/cluster/sick-pod.ts';
import { EXECUTABLE } from '../../test/rig/run-kubediag.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { LAST_WITH_STALE_SUBPATH } from '../cluster/kubernetes-recipes.ts';
import { startCluster } from '../cluster/start-cluster.ts';
import { publishedFaultRows } from './published-faults.ts';
import { barred, type Row, shown } from './row.ts';

const PROJECT = join(import.meta.dirname, '../..');
/** The user's graph repairs a fault that newer kubelets repair themselves. */
const NODES = { newNode: 'bench-new', oldNode: 'bench-old' };
const MANIFEST = join(PROJECT, 'test/manifests/subpath-remount.yaml');
const ROUNDS = 60;
/** The first ones load code, and the API server warms up. */
const WARM_UP = 10;
const SETTLE_MS = 20_000;
/** Two checks and more. */
const WATCHED_MS = 240_000;
const SAMPLES = 5;
const SAMPLE_MS = 8_000;
const MIB_IN_KIB = 1024;
/** Of `utime` and `stime` in /proc/PID/stat. */
const TICKS_PER_SECOND = 100;

/** What the pod of an agent costs on a node of a real cluster, and how fast it runs a Diagnosis. */
export function clusterAgentRows(scratch: string): Promise<readonly Row[]> {
  return onCluster(scratch, async (cluster) => [
    ...(await idleRows(new AgentPod(cluster, NODES.newNode))),
    ...(await diagnosisRows(cluster)),
  ]);
}

/** How soon a cluster shows a fault of a node. */
export function nodeConditionRows(scratch: string): Promise<readonly Row[]> {
  return onCluster(scratch, (cluster) => publishedFaultRows(cluster, NODES));
}

async function onCluster(
  scratch: string,
  rows: (cluster: Cluster) => Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  const cluster = await startCluster({
    name: `bench-${process.pid}`,
    nodes: [{ name: NODES.newNode }, { name: NODES.oldNode, kubelet: LAST_WITH_STALE_SUBPATH }],
    executable: EXECUTABLE,
    scratch: join(scratch, 'cluster'),
  });
  try {
    await install(cluster);
    return await rows(cluster);
  } finally {
    await cluster.stop();
  }
}

interface Memory {
  readonly agent: number;
  readonly executor: number;
}

async function idleRows(pod: AgentPod): Promise<readonly Row[]> {
  await sleep(SETTLE_MS);
  const before = { requests: await pod.requests(), ticks: await pod.ticks() };
  await sleep(WATCHED_MS);
  const after = { requests: await pod.requests(), ticks: await pod.ticks() };
  // Afterwards: each sample lets the kubelet write to its log, and the executor reads that.
  const memory: Memory[] = [];
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    await sleep(SAMPLE_MS);
    const [agent, executor] = [await pod.anonymousMib('agent'), await pod.anonymousMib('executor')];
    memory.push({ agent, executor });
  }
  const seconds = WATCHED_MS / 1_000;
  const perSecond = (after.requests.all - before.requests.all) / seconds;
  const millicores = ((after.ticks - before.ticks) / TICKS_PER_SECOND / seconds) * 1_000;
  // During a check the executor has a reader beside it.
  const idle = memory.toSorted((left, right) => left.executor - right.executor);
  const { agent, executor } = idle[Math.floor(SAMPLES / 2)] ?? { agent: NaN, executor: NaN };
  const title = 'agent pod, idle';
  return [
    barred(`${title}: requests to the API server`, perSecond, '1/s', { under: 0.1 }),
    shown(`${title}: anonymous memory of the agent`, agent, 'MiB'),
    shown(`${title}: anonymous memory of the executor`, executor, 'MiB'),
    barred(`${title}: anonymous memory of both`, agent + executor, 'MiB', { under: 64 }),
    barred(`${title}: CPU of both`, millicores, 'millicores', { under: 10 }),
  ];
}

/** The graph of the user's manual: two collectors, the diagnoser and the recovery. */
async function diagnosisRows(cluster: Cluster): Promise<readonly Row[]> {
  const { oldNode } = NODES;
  const pod = new AgentPod(cluster, oldNode);
  const sick = await makeSickPod(cluster, oldNode, 'bench-sick');
  const objects = parseAllDocuments(await readFile(MANIFEST, 'utf8')).map(
    (each) => each.toJS() as { readonly kind: string },
  );
  await cluster.apply(...objects.filter(({ kind }) => kind !== 'Diagnosis'));
  const script = join(PROJECT, 'tools/bench/diagnosis-times.ts');
  const before = await pod.requests();
  const set = 'subpath-remount-op-set';
  const all = String(WARM_UP + ROUNDS);
  const words = [script, cluster.kubeconfig, oldNode, sick.name, set, all];
  const { stdout, stderr, code } = await cluster.run([process.execPath, ...words], {
    limitMs: 300_000,
  });
  if (code !== 0) throw new Error(stderr);
  const after = await pod.requests();
  const times = (JSON.parse(stdout) as number[]).slice(WARM_UP).toSorted((a, b) => a - b);
  const at = (share: number) => times[Math.floor(times.length * share)] ?? Number.NaN;
  // The renewals of the Lease are among them.
  const writes = (after.writes - before.writes) / (WARM_UP + ROUNDS);
  await cluster.kubectl('delete', 'pod', sick.name, '--wait');
  const title = "Diagnosis of the user's graph in the agent pod, created to Succeeded";
  return [
    barred(`${title}, p50`, at(0.5), 'ms', { under: 400 }),
    barred(`${title}, p99`, at(0.99), 'ms', { under: 1_000 }),
    barred('writes to the API server for it', writes, '', { atMost: 8 }),
  ];
}

type Container = 'agent' | 'executor';

class AgentPod {
  readonly #cluster: Cluster;
  readonly #node: string;

  constructor(cluster: Cluster, node: string) {
    this.#cluster = cluster;
    this.#node = node;
  }

  async requests(): Promise<{ readonly all: number; readonly writes: number }> {
    const port = `${await this.#name()}:8090`;
    const path = `/api/v1/namespaces/kubediag/pods/${port}/proxy/metrics`;
    const text = await this.#cluster.kubectl('get', '--raw', path);
    // kubediag_api_requests_total{verb="PUT"} 12
    const found = [...text.matchAll(/^kubediag_api_requests_total\{verb="(\w+)"\} (\d+)$/gm)];
    const counts = found.map(([, verb = '', value]) => ({ verb, value: Number(value) }));
    const sum = (verbs: readonly string[]) =>
      counts
        .filter(({ verb }) => verbs.includes(verb))
        .reduce((total, { value }) => total + value, 0);
    const writes = ['POST', 'PUT', 'PATCH', 'DELETE'];
    return { all: sum([...writes, 'GET', 'WATCH']), writes: sum(writes) };
  }

  async anonymousMib(container: Container): Promise<number> {
    // Without the first process of the container and this script.
    const isLeftOut = '[ $p = /proc/1 ] || [ $p = /proc/$$ ]';
    const script = `for p in /proc/[0-9]*; do ${isLeftOut} || grep ^Anonymous: $p/smaps_rollup; done; true`;
    const text = await this.#exec(container, script);
    const lines = [...text.matchAll(/(\d+) kB/g)];
    return lines.reduce((sum, [, kib]) => sum + Number(kib), 0) / MIB_IN_KIB;
  }

  /** The CPU time of both, with the children that have ended. */
  async ticks(): Promise<number> {
    let sum = 0;
    for (const container of ['agent', 'executor'] as const) {
      const text = await this.#exec(container, 'cat /proc/[0-9]*/stat');
      for (const line of text.trim().split('\n')) {
        // 7 (MainThread) S 1 ... : utime is the 14th, behind it stime, cutime and cstime.
        const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
        if (!line.includes('(cat)')) {
          sum += fields.slice(11, 15).reduce((total, each) => total + Number(each), 0);
        }
      }
    }
    return sum;
  }

  async #exec(container: Container, script: string): Promise<string> {
    const place = ['--namespace=kubediag', `--container=${container}`];
    const exec = ['exec', ...place, await this.#name(), '--', 'sh', '-c', script];
    return this.#cluster.kubectl(...exec);
  }

  #name(): Promise<string> {
    const here = `--field-selector=spec.nodeName=${this.#node}`;
    const name = '-o=jsonpath={.items[0].metadata.name}';
    return this.#cluster.kubectl('get', 'pods', '--namespace=kubediag', here, name);
  }
}
