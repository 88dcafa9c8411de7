import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { removeCgroupTree } from '../../lab/cgroups.ts';
import { PLACES } from '../../lab/places.ts';
import { BUSYBOX_IMAGE } from '../../test/rig/busybox-image.ts';
import type { PrivateNamespaces } from '../../test/rig/private-namespaces.ts';
import { copyForNamespace } from './kubeconfig.ts';
import type { Part } from './part.ts';
import type { PartName } from './parts.ts';

/** Any tag but "latest", which the kubelet would want to pull each time. */
export const POD_IMAGE = BUSYBOX_IMAGE.replace(':latest', ':1');
const COMMAND_MS = 120_000;

/** What became of a command. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly input?: string;
  /** Added to what a command sees: the machine's own, with kubectl and KUBECONFIG. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly limitMs?: number;
}

/** A running cluster of one node, for tests. The caller stays outside. */
export interface Cluster {
  /** Of the cluster and of its node. */
  readonly name: string;
  readonly scratch: string;
  readonly kubeletVersion: string;
  /** The kubelet's root, as it is called inside. */
  readonly kubeletRoot: string;
  readonly kubeconfig: string;
  /** The default namespace of kubectl. */
  readonly namespace: string;
  /** The first process inside, as the caller sees it. */
  readonly pid: number;
  readonly parts: Readonly<Record<PartName, Part>>;
  /** A directory with kubectl. */
  readonly programs: string;
  /** A directory with a log of each part. */
  readonly logs: string;
  /** The image that pods can run; there is no other. */
  readonly image: string;
  /** The words that stand before a command to run it inside. */
  readonly enter: readonly string[];
  /** Settles when it has ended, for whatever reason. */
  readonly ended: Promise<unknown>;
  /** Where the caller finds a path of the inside. */
  outside(path: string): string;
  /** Runs a command inside, in the caller's directory. */
  run(command: readonly string[], options?: RunOptions): Promise<Ended>;
  /** Gives its standard output; rejects with what it wrote as error. */
  kubectl(...args: readonly string[]): Promise<string>;
  /** kubectl apply of objects. */
  apply(...objects: readonly object[]): Promise<void>;
  /** The same cluster for somebody whose kubectl works in another namespace. */
  inNamespace(namespace: string): Promise<Cluster>;
  /** Leaves no process, mount, address, cgroup or file. */
  stop(): Promise<void>;
}

export interface ClusterFacts {
  readonly name: string;
  readonly scratch: string;
  readonly cgroup: string;
  readonly kubeconfig: string;
  readonly namespace: string;
  readonly programs: string;
  readonly logs: string;
  readonly kubeletVersion: string;
  readonly namespaces: PrivateNamespaces;
  readonly parts: Readonly<Record<PartName, Part>>;
}

export class RunningCluster implements Cluster {
  readonly name: string;
  readonly scratch: string;
  readonly kubeconfig: string;
  readonly namespace: string;
  readonly programs: string;
  readonly logs: string;
  readonly image = POD_IMAGE;
  readonly kubeletVersion: string;
  readonly kubeletRoot = PLACES.kubeletRoot;
  readonly parts: Readonly<Record<PartName, Part>>;
  readonly #facts: ClusterFacts;

  constructor(facts: ClusterFacts) {
    this.name = facts.name;
    this.scratch = facts.scratch;
    this.kubeconfig = facts.kubeconfig;
    this.namespace = facts.namespace;
    this.logs = facts.logs;
    this.programs = facts.programs;
    this.kubeletVersion = facts.kubeletVersion;
    this.parts = facts.parts;
    this.#facts = facts;
  }

  get pid(): number {
    return this.#facts.namespaces.pid;
  }

  get enter(): readonly string[] {
    return this.#facts.namespaces.enter;
  }

  get ended(): Promise<unknown> {
    return this.#facts.namespaces.ended;
  }

  outside(path: string): string {
    return join(`/proc/${this.pid}/root`, path);
  }

  async run(command: readonly string[], options: RunOptions = {}): Promise<Ended> {
    const { input = '', environment = {}, limitMs = COMMAND_MS } = options;
    // The limit is enforced inside: from here only the program that enters could be killed.
    const limit = ['timeout', '--signal=KILL', String(limitMs / 1000)];
    const child = spawn('env', [...this.enter, ...limit, ...inThisFolder(command)], {
      env: { ...personsEnvironment(this.#facts), ...environment },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    // A command that ends without reading closes the pipe, which is no failure of ours.
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    const [stdout, stderr, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close') as Promise<[number | null]>,
    ]);
    return { code, stdout, stderr };
  }

  async kubectl(...args: readonly string[]): Promise<string> {
    return this.#kubectl(args);
  }

  async apply(...objects: readonly object[]): Promise<void> {
    const list = { apiVersion: 'v1', kind: 'List', items: objects };
    await this.#kubectl(['apply', '-f', '-'], JSON.stringify(list));
  }

  async #kubectl(args: readonly string[], input = ''): Promise<string> {
    const { code, stdout, stderr } = await this.run(['kubectl', ...args], { input });
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr.trim()}`);
    return stdout;
  }

  async inNamespace(namespace: string): Promise<Cluster> {
    const kubeconfig = join(dirname(this.kubeconfig), `admin-in-${namespace}.conf`);
    await copyForNamespace(this.kubeconfig, namespace, kubeconfig);
    return new RunningCluster({ ...this.#facts, kubeconfig, namespace });
  }

  async stop(): Promise<void> {
    await this.#facts.namespaces.stop();
    await removeCgroupTree(this.#facts.cgroup);
    await rm(this.scratch, { recursive: true, force: true });
  }
}

/** Entering ends in the "/" of the namespaces; a directory that they do not have is left. */
export function inThisFolder(command: readonly string[]): readonly string[] {
  const script = 'cd "$1" 2>/dev/null; shift; exec "$@"';
  return ['sh', '-c', script, 'sh', process.cwd(), ...command];
}

/** What a person's command sees inside: the machine's own, and the way to the cluster. */
export function personsEnvironment(
  facts: Pick<ClusterFacts, 'kubeconfig' | 'programs'>,
): NodeJS.ProcessEnv {
  return {
    ...process.env,
    KUBECONFIG: facts.kubeconfig,
    PATH: [facts.programs, process.env.PATH].join(delimiter),
  };
}
