import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { delimiter, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { PLACES } from '../../lab/places.ts';
import { BUSYBOX_IMAGE } from '../../test/rig/busybox-image.ts';
import type { PrivateNamespaces } from '../../test/rig/private-namespaces.ts';
import type { Part } from './part.ts';
import type { NodePartName } from './parts.ts';

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

/** A node of a running cluster. The caller stays outside. */
export interface ClusterNode {
  readonly name: string;
  readonly kubeletVersion: string;
  /** The kubelet's root, as it is called inside. */
  readonly kubeletRoot: string;
  /** The first process inside, as the caller sees it. */
  readonly pid: number;
  readonly parts: Readonly<Record<NodePartName, Part>>;
  /** A directory with kubectl and the kubelet. */
  readonly programs: string;
  /** A directory with the settings of each part. */
  readonly folder: string;
  /** A directory with a log of each part. */
  readonly logs: string;
  /** The words that stand before a command to run it inside. */
  readonly enter: readonly string[];
  /** Settles when it has ended, for whatever reason. */
  readonly ended: Promise<unknown>;
  /** Where the caller finds a path of the inside. */
  outside(path: string): string;
  /** Runs a command inside, in the caller's directory. */
  run(command: readonly string[], options?: RunOptions): Promise<Ended>;
}

export interface NodeFacts {
  readonly name: string;
  readonly kubeletVersion: string;
  readonly kubeconfig: string;
  readonly programs: string;
  readonly folder: string;
  readonly logs: string;
  readonly namespaces: PrivateNamespaces;
  readonly parts: Readonly<Record<NodePartName, Part>>;
}

export class RunningNode implements ClusterNode {
  readonly name: string;
  readonly kubeletVersion: string;
  readonly kubeletRoot = PLACES.kubeletRoot;
  readonly parts: Readonly<Record<NodePartName, Part>>;
  readonly programs: string;
  readonly folder: string;
  readonly logs: string;
  readonly #facts: NodeFacts;

  constructor(facts: NodeFacts) {
    this.name = facts.name;
    this.kubeletVersion = facts.kubeletVersion;
    this.parts = facts.parts;
    this.programs = facts.programs;
    this.folder = facts.folder;
    this.logs = facts.logs;
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

  run(command: readonly string[], options?: RunOptions): Promise<Ended> {
    return runOnNode({ ...this.#facts, enter: this.enter }, command, options);
  }

  /** The same node for somebody with another kubeconfig. */
  withKubeconfig(kubeconfig: string): RunningNode {
    return new RunningNode({ ...this.#facts, kubeconfig });
  }

  stop(): Promise<void> {
    return this.#facts.namespaces.stop();
  }
}

/** Runs a command on a node, in the caller's directory. */
export async function runOnNode(
  node: Pick<NodeFacts, 'kubeconfig' | 'programs'> & Pick<ClusterNode, 'enter'>,
  command: readonly string[],
  { input = '', environment = {}, limitMs = COMMAND_MS }: RunOptions = {},
): Promise<Ended> {
  // The limit is enforced inside: from here only the program that enters could be killed.
  const limit = ['timeout', '--signal=KILL', String(limitMs / 1000)];
  const child = spawn('env', [...node.enter, ...limit, ...inThisFolder(command)], {
    env: { ...personsEnvironment(node), ...environment },
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

/** Entering ends in the "/" of the namespaces; a directory that they do not have is left. */
export function inThisFolder(command: readonly string[]): readonly string[] {
  const script = 'cd "$1" 2>/dev/null; shift; exec "$@"';
  return ['sh', '-c', script, 'sh', process.cwd(), ...command];
}

/** What a person's command sees inside: the machine's own, and the way to the cluster. */
export function personsEnvironment(
  facts: Pick<NodeFacts, 'kubeconfig' | 'programs'>,
): NodeJS.ProcessEnv {
  return {
    ...process.env,
    KUBECONFIG: facts.kubeconfig,
    // All clusters have the same address, by which kubectl remembers the kinds of a server for ten minutes.
    KUBECACHEDIR: join(dirname(facts.kubeconfig), 'kubectl-cache'),
    PATH: [facts.programs, process.env.PATH].join(delimiter),
  };
}
