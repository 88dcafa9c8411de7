import { mkdirSync, mkdtempSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { writeVolume } from '../../lab/kubelet/atomic-volume.ts';
import { makePrivateNamespaces, type PrivateNamespaces } from './private-namespaces.ts';
import { type Ended, EXECUTABLE, type Running, runProgram, startProgram } from './run-kubediag.ts';
import { type KubeletOptions, type StandIn, startKubelet } from './start-kubelet.ts';

export const WEB = {
  uid: '29da79e5-386c-4e0d-82c1-215f93ff955d',
  name: 'web-0',
  namespace: 'shop',
};

export interface SubpathOptions {
  readonly podUid?: string;
  /** As the directory of the volume's plugin is called: kubernetes.io~configmap. */
  readonly plugin?: string;
  /** Whether the volume has a filesystem of its own in memory, as secrets have. */
  readonly inMemory?: boolean;
  readonly volume?: string;
  readonly container?: string;
  readonly index?: number;
  /** What is mounted: a name in the volume, of a file or a directory. */
  readonly subPath?: string;
}

/** One subPath mount of one container, made as the kubelet makes it. */
export interface Subpath {
  readonly target: string;
  /** Mounts what the volume shows now; the kubelet does so before it starts the container. */
  bind(): Promise<void>;
  /** Writes the volume again, which deletes what was bound. */
  update(): void;
  /** Whether the runtime could mount it into a container: the kernel's answer otherwise. */
  tryMount(): Promise<string>;
}

/**
 * A machine of its own to be sick on: mount and PID namespaces, a kubelet that is none, volumes as
 * the kubelet writes them. The test stays outside and looks in through /proc/<pid>/root.
 */
export class PracticeNode {
  readonly scratch = mkdtempSync(join(tmpdir(), 'kubediag-node-'));
  /** The kubelet's directory, as the mount table names it. */
  root = join(this.scratch, 'kubelet');
  readonly stateFolder = join(this.scratch, 'state');
  readonly socket = join(this.scratch, 'cri.sock');
  readonly inside: PrivateNamespaces;
  kubelet: StandIn | undefined;

  private constructor(inside: PrivateNamespaces) {
    this.inside = inside;
    mkdirSync(join(this.root, 'pods'), { recursive: true });
  }

  static async make(): Promise<PracticeNode> {
    return new PracticeNode(await makePrivateNamespaces());
  }

  async startKubelet(options: Partial<KubeletOptions> = {}): Promise<StandIn> {
    const says = { version: 'v1.18.8', pods: [] };
    const whole = { root: this.root, socket: this.socket, says, ...options };
    this.kubelet = await startKubelet(this.scratch, this.inside, whole);
    return this.kubelet;
  }

  async stopKubelet(): Promise<void> {
    await this.kubelet?.stop();
    this.kubelet = undefined;
  }

  /** Who has the mounts that count. */
  get #mounter(): number {
    return this.kubelet?.pid ?? this.inside.pid;
  }

  /** How we outside reach a path of the node. */
  see(path: string): string {
    return `/proc/${this.#mounter}/root${path}`;
  }

  /** Runs a command where the kubelet's mounts are; rejects with what it wrote as error. */
  async run(...args: readonly string[]): Promise<string> {
    const enter = ['nsenter', '--target', String(this.#mounter), '--mount', '--pid', '--'];
    const { code, stdout, stderr } = await runProgram([...enter, ...args]);
    if (code !== 0) throw new Error(`${args.join(' ')}: ${stderr.trim()}`);
    return stdout;
  }

  /** Starts a command in the namespaces, and lets it run. */
  startHere(args: readonly string[], environment: NodeJS.ProcessEnv = {}): Running {
    return startProgram([...this.inside.enter, ...args], { environment });
  }

  /** Makes a volume with one subPath mount on it. */
  async subpath(options: SubpathOptions = {}): Promise<Subpath> {
    const { podUid = WEB.uid, plugin = 'configmap', volume = 'settings' } = options;
    const { container = 'app', index = 1, subPath = 'nginx.conf', inMemory } = options;
    const pod = join(this.root, 'pods', podUid);
    const folder = join(pod, `volumes/kubernetes.io~${plugin}`, volume);
    const target = join(pod, 'volume-subpaths', volume, container, String(index));
    mkdirSync(this.see(folder), { recursive: true });
    if (inMemory) await this.run('mount', '-t', 'tmpfs', 'tmpfs', folder);
    let version = 0;
    const update = () => {
      version += 1;
      writeVolume(this.see(folder), { [subPath]: `version ${version}\n` });
    };
    update();
    const bind = async () => {
      this.write(target, '');
      // The kubelet binds the real path of the file, behind the link.
      const payload = readlinkSync(join(this.see(folder), '..data'));
      await this.run('mount', '--bind', join(folder, payload, subPath), target);
    };
    await bind();
    return { target, bind, update, tryMount: () => this.#tryMount(target) };
  }

  /** Writes a file of the node. */
  write(path: string, text: string): void {
    mkdirSync(dirname(this.see(path)), { recursive: true });
    writeFileSync(this.see(path), text);
  }

  /** The kernel's answer to a bind mount of the target, made and unmade at once. */
  async #tryMount(target: string): Promise<string> {
    const place = join(this.scratch, 'place');
    writeFileSync(place, '');
    const mounted = await this.run('mount', '--bind', target, place).catch(
      (error: unknown) => (error as Error).message,
    );
    if (mounted !== '') return mounted;
    const text = await this.run('cat', place);
    await this.run('umount', place);
    return text;
  }

  /** Starts the executable on this node. `--state-dir` is added where there is one. */
  start(args: readonly string[], options: NodeRunOptions = {}): Running {
    const { through = [], environment = {}, executable = EXECUTABLE } = options;
    const [command = ''] = args;
    const state = ['recover', 'journal'].includes(command) && !args.includes('--state-dir');
    const rest = state ? ['--state-dir', this.stateFolder] : [];
    const all = [...this.inside.enter, ...through, executable, ...args, ...rest];
    return startProgram(all, { environment });
  }

  async kubediag(...args: readonly string[]): Promise<Ended> {
    return this.kubediagWith({}, ...args);
  }

  async kubediagWith(options: NodeRunOptions, ...args: readonly string[]): Promise<Ended> {
    const { child, end } = this.start(args, options);
    child.stdin?.end();
    return end;
  }

  async stop(): Promise<void> {
    await this.inside.stop();
    rmSync(this.scratch, { recursive: true, force: true });
  }
}

export interface NodeRunOptions {
  /** Words before the executable: another user, another namespace, a terminal. */
  readonly through?: readonly string[];
  readonly environment?: NodeJS.ProcessEnv;
  /** Path of the executable. */
  readonly executable?: string;
}
