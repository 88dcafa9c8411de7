import type { KubeletChanges, LabSettings } from './settings.ts';

/** An object as an API server holds it: of a pod, a ConfigMap, a Secret. */
export interface KubernetesObject {
  readonly kind: 'Pod' | 'ConfigMap' | 'Secret';
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid?: string;
    readonly [field: string]: unknown;
  };
  readonly [field: string]: unknown;
}

/** What a container runtime is told by a kubelet, or past it: over CRI, to whichever one runs here. */
export interface RuntimeCommands {
  runPod(pod: PodOptions): Promise<string>;
  createContainer(podId: string, pod: PodOptions, options: ContainerOptions): Promise<string>;
  /** Rejects with the runtime's own words. */
  startContainer(id: string): Promise<void>;
  stopContainer(id: string): Promise<void>;
  removeContainer(id: string): Promise<void>;
  removePod(podId: string): Promise<void>;
  containers(): Promise<readonly ListedContainer[]>;
  /** What only a call for this one container tells. */
  status(id: string): Promise<ContainerStatus>;
  pods(): Promise<readonly ListedPod[]>;
  close(): void;
}

export interface PodOptions {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly attempt?: number;
  /** Made past the kubelet: without a folder for logs, and without labels. */
  readonly isUnmanagedContainer?: boolean;
}

/** One image has all these names on a practice node: nothing is fetched, and a maker is known by them. */
export const IMAGE_NAMES = {
  program: 'kubediag.practice/wait:latest',
  broker: 'docker.io/library/eclipse-mosquitto:1.6.15',
  installation: 'docker.io/kubeedge/installation-package:v1.12.1',
} as const;

export interface ContainerOptions {
  readonly name: string;
  readonly attempt?: number;
  /** What it is called by whoever makes it, of IMAGE_NAMES; whatever its name, it only sleeps. */
  readonly image?: (typeof IMAGE_NAMES)[keyof typeof IMAGE_NAMES];
  readonly mounts?: readonly {
    readonly containerPath: string;
    readonly hostPath: string;
    readonly readonly?: boolean;
  }[];
  /** Made past the kubelet: without a log path, and with no other labels than these. */
  readonly isUnmanagedContainer?: boolean;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface ListedContainer {
  readonly id: string;
  readonly podId: string;
  readonly name: string;
  readonly attempt: number;
  readonly state: 'created' | 'running' | 'exited' | 'unknown';
  readonly labels: Readonly<Record<string, string>>;
}

export interface ContainerStatus {
  readonly state: ListedContainer['state'];
  /** Of one that has exited; 0 before. */
  readonly exitCode: number;
  /** "StartError" and the runtime's own words, of one that could not be started. */
  readonly reason: string;
  readonly message: string;
  /** Empty when it was made without. */
  readonly logPath: string;
  /** As Date.now() counts; 0 when it has not come to it. */
  readonly startedAt: number;
  readonly finishedAt: number;
}

export interface ListedPod {
  readonly id: string;
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly isReady: boolean;
}

/** The practice node, for whoever breaks it or heals it from inside. */
export interface PracticeNode {
  readonly settings: LabSettings;
  readonly runtime: RuntimeCommands;
  /** Tells the kubelet of an object, as an API server does: new, or changed. */
  readonly put: (object: KubernetesObject) => void;
  readonly remove: (kind: KubernetesObject['kind'], namespace: string, name: string) => void;
  /** The pods as the kubelet tells of them now. */
  readonly pods: () => Promise<readonly KubernetesObject[]>;
  /** Changes what our own kubelet does; a real one cannot be told, and this throws. */
  readonly configureKubelet: (args: Partial<KubeletChanges>) => void;
  /** Runs a program to its end; rejects with what it wrote as error. */
  readonly run: (program: string, ...args: readonly string[]) => Promise<string>;
  /** Starts a part of ours that stays when we end, such as a silent file server; its process. */
  readonly startPart: (part: string, ...args: readonly string[]) => Promise<number>;
  /** Waits until something is so; rejects, with what it waited for, when it never is. */
  readonly until: (what: string, isSo: () => Promise<boolean> | boolean) => Promise<void>;
}
