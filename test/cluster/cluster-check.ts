import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FaultReport, Report } from '../../src/node/checkup/report.ts';
import type { Ended } from '../../tools/cluster/node.ts';
import { containerProcess } from '../rig/container-process.ts';
import { EXECUTABLE, reportOf } from '../rig/run-kubediag.ts';
import { type SharedCluster, sharedCluster } from './shared-cluster.ts';

/** The wait of `recover --wait` included. */
const KUBEDIAG_MS = 280_000;

export interface FaultAnswer extends FaultReport {
  readonly code: number | null;
}

/** The shared cluster, and what a test of one fault asks about it. */
export class ClusterCheck {
  readonly cluster: SharedCluster;
  readonly #fault: string;

  private constructor(cluster: SharedCluster, fault: string) {
    this.cluster = cluster;
    this.#fault = fault;
  }

  static async begin(kubelet: string, fault: string): Promise<ClusterCheck> {
    return new ClusterCheck(await sharedCluster(kubelet), fault);
  }

  static on(cluster: SharedCluster, fault: string): ClusterCheck {
    return new ClusterCheck(cluster, fault);
  }

  /** Runs the built executable on the node. */
  kubediag(...args: readonly string[]): Promise<Ended> {
    return this.cluster.run([EXECUTABLE, ...args], { limitMs: KUBEDIAG_MS });
  }

  /** The options with which the kubelet answers every question. */
  get credential(): readonly string[] {
    const pair = join(this.cluster.scratch, 'kubernetes/apiserver-kubelet');
    return ['--kubelet-cert', `${pair}.crt`, '--kubelet-key', `${pair}.key`];
  }

  async check(...args: readonly string[]): Promise<FaultAnswer> {
    return this.answerOf(await this.kubediag('check', '-o', 'json', ...args));
  }

  /** What is said of every fault. */
  async report(...args: readonly string[]): Promise<Report> {
    return reportOf(await this.kubediag('check', '-o', 'json', ...args));
  }

  /** Repairs without a question. */
  recover(...args: readonly string[]): Promise<Ended> {
    return this.kubediag('recover', this.#fault, '--yes', ...args);
  }

  /** What the kubelet has logged since it began with this many characters. */
  kubeletLogged(since = 0): string {
    return readFileSync(this.cluster.parts.kubelet.log, 'utf8').slice(since);
  }

  answerOf(ended: Ended): FaultAnswer {
    const fault = reportOf(ended).faults.find(({ name }) => name === this.#fault);
    if (!fault) throw new Error(`no ${this.#fault} in ${ended.stdout}`);
    return { code: ended.code, ...fault };
  }

  /** What each pod's first container is: "running", or why it waits. */
  async containerStates(): Promise<Readonly<Record<string, string>>> {
    const states = (await this.#pods()).map(({ metadata, status }) => {
      const { state = {} } = status.containerStatuses?.[0] ?? {};
      const reason = state.waiting?.reason ?? Object.keys(state)[0] ?? '';
      return [withoutHash(metadata.name), reason] as const;
    });
    return Object.fromEntries(states);
  }

  async contentOf(pod: string, path: string): Promise<string> {
    const { name, namespace } = (await this.#pod(pod)).metadata;
    return this.cluster.kubectl('exec', `--namespace=${namespace}`, name, '--', 'cat', path);
  }

  async killContainer(pod: string): Promise<void> {
    const { status } = await this.#pod(pod);
    const id = status.containerStatuses?.[0]?.containerID?.replace('containerd://', '') ?? '';
    process.kill(containerProcess(id), 'SIGKILL');
  }

  /** A pod that does nothing but run. */
  async applyPod(name: string): Promise<void> {
    const containers = [{ name: 'app', image: this.cluster.image }];
    const spec = { terminationGracePeriodSeconds: 0, containers };
    await this.cluster.apply({ apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec });
  }

  async uidOf(pod: string): Promise<string> {
    return (await this.#pod(pod)).metadata.uid;
  }

  async phaseOf(pod: string): Promise<string> {
    return (await this.#pod(pod)).status.phase;
  }

  /** Of all pods; a restart creates another container. */
  async containerIds(): Promise<readonly string[]> {
    const statuses = (await this.#pods()).flatMap(({ status }) => status.containerStatuses ?? []);
    return statuses.map(({ containerID = '' }) => containerID).toSorted();
  }

  staleMounts(): readonly string[] {
    const table = readFileSync(`/proc/${this.cluster.pid}/mountinfo`, 'utf8');
    return table.split('\n').filter((line) => line.includes('//deleted '));
  }

  async #pod(name: string): Promise<Pod> {
    const pod = (await this.#pods()).find(({ metadata }) => withoutHash(metadata.name) === name);
    if (!pod) throw new Error(`there is no pod ${name}`);
    return pod;
  }

  async #pods(): Promise<readonly Pod[]> {
    const text = await this.cluster.kubectl('get', 'pods', '--all-namespaces', '-o=json');
    return (JSON.parse(text) as { readonly items: readonly Pod[] }).items;
  }
}

interface Pod {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly uid: string };
  readonly status: {
    readonly phase: string;
    readonly containerStatuses?: readonly {
      readonly containerID?: string;
      readonly state: { readonly waiting?: { readonly reason: string } };
    }[];
  };
}

/** The name of the Deployment for that of its pod. */
export function withoutHash(name: string): string {
  // core2-756945577d-f8ftd
  return name.replace(/-[4-9bcdf]{1,10}-[0-9a-z]{5}$/, '');
}
