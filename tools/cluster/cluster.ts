import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { removeCgroupTree } from '../../lab/cgroups.ts';
import type { PrivateNamespaces } from '../../test/rig/private-namespaces.ts';
import { copyForNamespace } from './kubeconfig.ts';
import {
  type ClusterNode,
  type Ended,
  POD_IMAGE,
  type RunningNode,
  type RunOptions,
} from './node.ts';
import type { Part } from './part.ts';
import type { PartName } from './parts.ts';

/**
 * A running cluster, for tests. The caller stays outside. What belongs to a node is here that of the
 * first one, on which the control plane runs.
 */
export interface Cluster extends ClusterNode {
  readonly nodes: readonly ClusterNode[];
  readonly scratch: string;
  readonly kubeconfig: string;
  /** The default namespace of kubectl. */
  readonly namespace: string;
  /** Of the control plane and of the first node. */
  readonly parts: Readonly<Record<PartName, Part>>;
  /** A directory with a log of each part of the control plane, and a directory of each node. */
  readonly logs: string;
  /** An image with a shell that pods can run. */
  readonly image: string;
  /** All images that pods can run; there is no other. */
  readonly images: readonly string[];
  /** Settles when one of its nodes has ended, for whatever reason. */
  readonly ended: Promise<unknown>;
  /** The node of this name. */
  node(name: string): ClusterNode;
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
  readonly images: readonly string[];
  readonly logs: string;
  /** What connects the nodes. */
  readonly connection: PrivateNamespaces;
  readonly controlPlane: Omit<Readonly<Record<PartName, Part>>, keyof ClusterNode['parts']>;
  readonly nodes: readonly [RunningNode, ...RunningNode[]];
}

export class RunningCluster implements Cluster {
  readonly name: string;
  readonly nodes: readonly RunningNode[];
  readonly scratch: string;
  readonly kubeconfig: string;
  readonly namespace: string;
  readonly programs: string;
  readonly folder: string;
  readonly logs: string;
  readonly image = POD_IMAGE;
  readonly images: readonly string[];
  readonly kubeletVersion: string;
  readonly kubeletRoot: string;
  readonly parts: Readonly<Record<PartName, Part>>;
  readonly ended: Promise<unknown>;
  readonly #first: RunningNode;
  readonly #facts: ClusterFacts;

  constructor(facts: ClusterFacts) {
    const [first] = facts.nodes;
    this.name = facts.name;
    this.nodes = facts.nodes;
    this.scratch = facts.scratch;
    this.kubeconfig = facts.kubeconfig;
    this.namespace = facts.namespace;
    this.images = facts.images;
    this.logs = facts.logs;
    this.programs = first.programs;
    this.folder = first.folder;
    this.kubeletVersion = first.kubeletVersion;
    this.kubeletRoot = first.kubeletRoot;
    this.parts = { ...facts.controlPlane, ...first.parts };
    this.ended = Promise.race([facts.connection, ...facts.nodes].map(({ ended }) => ended));
    this.#first = first;
    this.#facts = facts;
  }

  get pid(): number {
    return this.#first.pid;
  }

  get enter(): readonly string[] {
    return this.#first.enter;
  }

  outside(path: string): string {
    return this.#first.outside(path);
  }

  run(command: readonly string[], options?: RunOptions): Promise<Ended> {
    return this.#first.run(command, options);
  }

  node(name: string): ClusterNode {
    const node = this.nodes.find((known) => known.name === name);
    if (!node) throw new Error(`${this.name} has no node ${name}`);
    return node;
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
    const [first, ...others] = this.#facts.nodes;
    return new RunningCluster({
      ...this.#facts,
      kubeconfig,
      namespace,
      nodes: [
        first.withKubeconfig(kubeconfig),
        ...others.map((node) => node.withKubeconfig(kubeconfig)),
      ],
    });
  }

  async stop(): Promise<void> {
    const { connection, cgroup } = this.#facts;
    await Promise.all([connection, ...this.nodes].map((part) => part.stop()));
    await removeCgroupTree(cgroup);
    await rm(this.scratch, { recursive: true, force: true });
  }
}

/** Those of the control plane and of every node. */
export function allParts({ parts, nodes }: Pick<Cluster, 'parts' | 'nodes'>): readonly Part[] {
  return [
    ...new Set([parts, ...nodes.map((node) => node.parts)].flatMap((all) => Object.values(all))),
  ];
}
