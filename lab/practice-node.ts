import type { KubeletChanges, LabSettings } from './settings.ts';

/** A Kubernetes object: a Pod, a ConfigMap or a Secret. */
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

/** Commands to the container runtime over CRI. */
export interface RuntimeCommands {
  runPod(pod: PodOptions): Promise<string>;
  createContainer(podId: string, pod: PodOptions, options: ContainerOptions): Promise<string>;
  /** Rejects with the runtime's error message. */
  startContainer(id: string): Promise<void>;
  stopContainer(id: string): Promise<void>;
  removeContainer(id: string): Promise<void>;
  removePod(podId: string): Promise<void>;
  containers(): Promise<readonly ListedContainer[]>;
  /** From ContainerStatus, with more than the list has. */
  status(id: string): Promise<ContainerStatus>;
  pods(): Promise<readonly ListedPod[]>;
  close(): void;
}

export interface PodOptions {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly attempt?: number;
  /** Not created by the kubelet: without a log directory and without labels. */
  readonly isUnmanagedContainer?: boolean;
}

/** Names of the one image of a practice node. Checks recognize products by them. */
export const IMAGE_NAMES = {
  program: 'kubediag.practice/wait:latest',
  broker: 'docker.io/library/eclipse-mosquitto:1.6.15',
  installation: 'docker.io/kubeedge/installation-package:v1.12.1',
} as const;

export interface ContainerOptions {
  readonly name: string;
  readonly attempt?: number;
  /** One of IMAGE_NAMES. The program only sleeps. */
  readonly image?: (typeof IMAGE_NAMES)[keyof typeof IMAGE_NAMES];
  readonly mounts?: readonly {
    readonly containerPath: string;
    readonly hostPath: string;
    readonly readonly?: boolean;
  }[];
  /** Not created by the kubelet: without a log path, and with no other labels than these. */
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
  /** 0 until the container has exited. */
  readonly exitCode: number;
  /** "StartError" and the runtime's message, if it could not be started. */
  readonly reason: string;
  readonly message: string;
  /** Empty if the container has none. */
  readonly logPath: string;
  /** In milliseconds since the epoch; 0 if it has not started. */
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

/** The practice node, as breaks and heal use it on the node itself. */
export interface PracticeNode {
  readonly settings: LabSettings;
  readonly runtime: RuntimeCommands;
  /** Creates or updates an object for the kubelet. */
  readonly put: (object: KubernetesObject) => void;
  readonly remove: (kind: KubernetesObject['kind'], namespace: string, name: string) => void;
  /** The pods that the kubelet lists now. */
  readonly pods: () => Promise<readonly KubernetesObject[]>;
  /** Changes the behaviour of the stand-in kubelet; throws with a real one. */
  readonly configureKubelet: (args: Partial<KubeletChanges>) => void;
  /** Runs a program until it exits; rejects with its standard error. */
  readonly run: (program: string, ...args: readonly string[]) => Promise<string>;
  /** Starts a part that outlives this process, such as a silent file server; returns its PID. */
  readonly startPart: (part: string, ...args: readonly string[]) => Promise<number>;
  /** Waits for a condition; rejects with its description after the timeout. */
  readonly until: (what: string, isSo: () => Promise<boolean> | boolean) => Promise<void>;
}
