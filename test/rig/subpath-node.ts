import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Pod, type RunningContainerd, startContainerd } from './containerd.ts';
import { PracticeNode, type Subpath } from './practice-node.ts';

/** The manifests that KubeDiag's own page of the pipeline prints. */
export const MANIFEST = join(import.meta.dirname, '../manifests/subpath-remount.yaml');

const CORE = {
  uid: '29da79e5-386c-4e0d-82c1-215f93ff955d',
  name: 'core2-5b89896b96-d44xl',
  namespace: 'default',
};

/** The pod that those manifests name, as the kubelet lists it. */
export const POD = {
  metadata: CORE,
  spec: {
    restartPolicy: 'Always',
    volumes: [{ name: 'logrotateconf', configMap: { name: 'nginx-logrotate' } }],
    containers: [
      {
        name: 'debian',
        volumeMounts: [
          {
            name: 'logrotateconf',
            mountPath: '/etc/logrotate.d/nginx.log',
            subPath: 'nginx.log',
          },
        ],
      },
    ],
  },
  status: { phase: 'Running' },
};

/** A practice node with that pod on a real containerd, whose container can be prevented from starting. */
export class SubpathNode {
  readonly node: PracticeNode;
  readonly volume: Subpath;
  readonly #containerd: RunningContainerd;
  readonly #pod: Pod;
  #attempt = -1;
  #running: string | undefined;

  private constructor(
    node: PracticeNode,
    containerd: RunningContainerd,
    { pod, volume }: { readonly pod: Pod; readonly volume: Subpath },
  ) {
    this.node = node;
    this.volume = volume;
    this.#containerd = containerd;
    this.#pod = pod;
  }

  /** `undo` gets what is to be done at the end, last first, also when this fails half-way. */
  static async make(undo: (() => Promise<void>)[]): Promise<SubpathNode> {
    const node = await PracticeNode.make();
    undo.push(() => node.stop());
    const containerd = await startContainerd(node.scratch, { namespaces: node.inside });
    undo.push(() => containerd.stop());
    const says = { version: 'v1.18.8', pods: [POD] };
    await node.startKubelet({ socket: containerd.socket, says });
    const volume = await node.subpath({
      podUid: CORE.uid,
      volume: 'logrotateconf',
      container: 'debian',
      subPath: 'nginx.log',
    });
    const pod = await containerd.runPod(CORE);
    return new SubpathNode(node, containerd, { pod, volume });
  }

  /** Starts the kubelet again with its ports closed: nobody can ask it for its pods. */
  async closeKubeletPorts(): Promise<void> {
    await this.node.stopKubelet();
    const says = { version: 'v1.18.8' };
    const { socket } = this.#containerd;
    await this.node.startKubelet({ socket, says, flags: ['--read-only-port=0'] });
  }

  /** Rejects with what the runtime says when the container cannot start. */
  async startAttempt(): Promise<void> {
    this.#attempt += 1;
    const container = await this.#containerd.createContainer(this.#pod, {
      name: 'debian',
      attempt: this.#attempt,
      command: ['/bin/sleep', '1000000'],
      mounts: [{ containerPath: '/etc/nginx.log', hostPath: this.volume.target, readonly: true }],
    });
    await this.#containerd.startContainer(container);
    this.#running = container;
  }

  /** Writes the volume again and stops the container: from now on it cannot start. */
  async makeStale(): Promise<void> {
    this.volume.update();
    if (this.#running === undefined) throw new Error('no container runs that could be stopped');
    await this.#containerd.stopContainer(this.#running);
    await this.#containerd.removeContainer(this.#running);
    this.#running = undefined;
  }

  /** The line of the mount table that is the fault. */
  staleLine(): string {
    const lines = readFileSync(`/proc/${this.node.kubelet?.pid}/mountinfo`, 'utf8').split('\n');
    return lines.find((line) => line.includes(` ${this.volume.target} `)) ?? '';
  }
}
