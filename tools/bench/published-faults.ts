import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { until } from '../../lab/until.ts';
import { messageOf } from '../../src/lib/std/message-of.ts';
import { API_VERSION } from '../../src/pipeline/api/kind-names.ts';
import { mountHungVolume } from '../../test/cluster/hung-volume.ts';
import { makeSubpathPod, removeSubpathSource } from '../../test/cluster/sick-pod.ts';
import { makeUnloggedContainer } from '../../test/cluster/unlogged-container.ts';
import { setUpWorkingFolder } from '../../test/cluster/working-folder.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { fileFaults } from './file-faults.ts';
import { barred, failed, type Row } from './row.ts';

const SCRIPT = join(import.meta.dirname, 'condition-changes.ts');
const ORPHAN = '3c9d1f60-7b7e-4f0c-a1de-52c8f4e6b039';
/** A row that takes longer has failed. */
const CHANGE_MS = 120_000;

export interface MadeFault {
  readonly fault: string;
  /** Of its rows; by default the fault. */
  readonly title?: string;
  readonly nodeName: string;
  /** Seconds until the condition is True. */
  readonly barSeconds: number;
  /** What has to be there before. */
  readonly prepare?: () => Promise<unknown>;
  /** Returns when the fault is there. */
  readonly make: () => Promise<unknown>;
  /** Absent: a Diagnosis repairs it. */
  readonly cure?: () => Promise<unknown>;
}

/** How soon the cluster shows a fault of a node, and that it is cured. */
export async function publishedFaultRows(
  cluster: Cluster,
  { newNode, oldNode }: { readonly newNode: string; readonly oldNode: string },
): Promise<readonly Row[]> {
  const node = cluster.node(newNode);
  const pod = 'bench-published';
  const faults: readonly MadeFault[] = [
    {
      ...{ fault: 'stale-subpath-mount', nodeName: oldNode, barSeconds: 5 },
      prepare: () => makeSubpathPod(cluster, oldNode, pod),
      make: () => removeSubpathSource(cluster, oldNode, pod),
      cure: () => cluster.kubectl('delete', 'pod', pod, '--wait'),
    },
    {
      ...{ fault: 'container-without-log-path', nodeName: newNode, barSeconds: 5 },
      prepare: () => setUpWorkingFolder({ cluster: node }),
      make: () =>
        makeUnloggedContainer(
          { image: cluster.image, pid: node.pid },
          { name: 'bench', command: ['true'] },
        ),
    },
    {
      ...{ fault: 'dead-volume-mount', nodeName: oldNode, barSeconds: 15 },
      make: () => mountHungVolume(cluster.node(oldNode), ORPHAN, 'kubernetes.io~cephfs/data'),
    },
    ...fileFaults(cluster, newNode),
  ];
  const rows: Row[] = [];
  for (const fault of faults) {
    try {
      rows.push(...(await rowsOf(cluster, fault)));
    } catch (error) {
      // The others are still worth measuring.
      rows.push(failed(`${fault.title ?? fault.fault}: condition of the node`, messageOf(error)));
    }
  }
  return rows;
}

async function rowsOf(
  cluster: Cluster,
  { fault, title: name = fault, nodeName, barSeconds, prepare, make, cure }: MadeFault,
): Promise<readonly Row[]> {
  await prepare?.();
  const condition = new Condition(cluster, nodeName);
  try {
    await condition.becomes('False');
    await make();
    const madeMs = Date.now();
    const foundMs = await condition.becomes('True');
    await (cure?.() ?? repair(cluster, nodeName, fault));
    const curedMs = Date.now();
    const goneMs = await condition.becomes('False');
    const title = `${name}: condition of the node`;
    return [
      barred(`${title} True after`, (foundMs - madeMs) / 1_000, 's', { under: barSeconds }),
      barred(`${title} False after the cure`, (goneMs - curedMs) / 1_000, 's', { under: 10 }),
    ];
  } finally {
    condition.close();
  }
}

async function repair(cluster: Cluster, nodeName: string, fault: string): Promise<void> {
  // What does no harm yet is not repaired.
  const isActive = '--for=jsonpath={.status.state}=active';
  await cluster.kubectl('wait', `nodereport/${nodeName}`, isActive, '--timeout=120s');
  await cluster.apply({
    apiVersion: API_VERSION,
    kind: 'Diagnosis',
    metadata: { name: fault },
    spec: { operationSet: fault, nodeName },
  });
  const isRepaired = '--for=jsonpath={.status.result}=Repaired';
  await cluster.kubectl('wait', `diagnosis/${fault}`, isRepaired, '--timeout=60s');
}

/** The condition NodeFault of a node. */
class Condition {
  readonly #watching: ChildProcess;
  #status = '';
  #changedMs = 0;

  constructor(cluster: Cluster, nodeName: string) {
    const command = [...cluster.enter, process.execPath, SCRIPT, cluster.kubeconfig, nodeName];
    this.#watching = spawn('env', command, { stdio: ['ignore', 'pipe', 'inherit'] });
    const { stdout } = this.#watching;
    if (!stdout) throw new Error('no output');
    createInterface({ input: stdout }).on('line', (line) => {
      // True 1763428800123
      const [status = '', ms] = line.split(' ');
      this.#status = status;
      this.#changedMs = Number(ms);
    });
  }

  /** When it did. */
  async becomes(status: string): Promise<number> {
    await until(`NodeFault is ${status}`, () => this.#status === status, CHANGE_MS);
    return this.#changedMs;
  }

  close(): void {
    this.#watching.kill('SIGKILL');
  }
}
