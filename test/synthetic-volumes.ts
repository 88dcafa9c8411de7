import {
  type Answer,
  type FileStatus,
  type OpenFile,
  type ProcessEntry,
  type Question,
  type QuestionKind,
  ReadError,
  type ReadFailure,
} from '../src/node/model/node-reader.ts';
import { RecordedNode } from '../src/node/recording/recorded-node.ts';
import { NodeMaker } from './synthetic-node.ts';
import {
  KUBELET_ROOT,
  POD_UID,
  type SyntheticWorker,
  syntheticWorker,
} from './synthetic-worker.ts';

/** An entry of a plugin's directory; by default an empty directory that is a day old. */
export interface SyntheticEntry {
  readonly type?: FileStatus['type'];
  readonly ageMs?: number;
  readonly isEmpty?: boolean;
}

/** The volumes of one plugin in one pod. */
export interface SyntheticVolumes {
  readonly podUid?: string;
  readonly plugin: string;
  readonly entries: Readonly<Record<string, SyntheticEntry>>;
  /** The directory cannot be listed: "EIO". */
  readonly failure?: string;
  /** Its names are listed, and their types are not. */
  readonly isHung?: boolean;
}

/** A process of the node beside the kubelet, with mounts and open files of its own. */
export interface SyntheticProcess {
  readonly pid: number;
  readonly name: string;
  readonly namespace?: string | null;
  readonly cgroup?: string;
  readonly root?: string;
  readonly mounts?: readonly string[];
  readonly files?: readonly OpenFile[];
  /** Why its open files below a directory cannot be read. */
  readonly filesFailure?: ReadFailure;
}

export interface SyntheticNodeWithVolumes extends SyntheticWorker {
  readonly volumes: readonly SyntheticVolumes[];
  readonly inhabitants?: readonly SyntheticProcess[];
  /** Lines of the kubelet's metrics beside its version. */
  readonly metrics?: readonly string[];
  /** What the kubelet says of its sync loop; null when it does not answer that. */
  readonly loop?: 'ok' | 'failing' | null;
}

export const CLOCK = new Date('2026-01-02T03:04:05Z');
const OWN_NAMESPACE = 'mnt:[4026531841]';
const DAY_MS = 24 * 60 * 60 * 1000;
const PODS = `/proc/812/root${KUBELET_ROOT}/pods`;

/** A worker whose pods have directories of volumes; questions about those are answered as described. */
export function syntheticNodeWithVolumes(made: SyntheticNodeWithVolumes): NodeMaker {
  const maker = new VolumesMaker(made);
  for (const [key, recorded] of syntheticWorker(made).answers) maker.answers.set(key, recorded);
  for (const { pid, mounts, root = '/' } of made.inhabitants ?? []) {
    maker.link(`/proc/${pid}/root`, root);
    if (mounts) maker.file(`/proc/${pid}/mountinfo`, `${mounts.join('\n')}\n`);
  }
  maker.link('/proc/812/root', '/');
  addHealth(maker, made);
  if (made.metrics) {
    const { version = 'v1.18.8' } = made;
    const body = [`kubernetes_build_info{git_version="${version}"} 1`, ...made.metrics, ''];
    const asked = { scheme: 'http', address: '127.0.0.1', port: 10255, path: '/metrics' } as const;
    maker.set('kubelet', asked, { answer: { status: 200, body: body.join('\n') } });
  }
  return maker;
}

/** By default the loop of a kubelet runs, and its pods are listed. */
function addHealth(
  maker: NodeMaker,
  { pods, loop = pods ? 'ok' : null }: SyntheticNodeWithVolumes,
): void {
  const http = { scheme: 'http', address: '127.0.0.1', port: 10255 } as const;
  const https = { scheme: 'https', address: '127.0.0.1', port: 10250 } as const;
  const failing = { status: 500, body: '[+]ping ok\n[-]syncloop failed: reason withheld\n' };
  for (const path of ['/healthz', '/healthz/syncloop']) {
    const answer = loop === 'failing' ? failing : { status: 200, body: 'ok' };
    maker.set('kubelet', { ...http, path }, loop === null ? { failure: 'refused' } : { answer });
    maker.set('kubelet', { ...https, path }, { answer: { status: 401, body: 'Unauthorized' } });
  }
}

class VolumesMaker extends NodeMaker {
  override clock = CLOCK;
  readonly #made: SyntheticNodeWithVolumes;

  constructor(made: SyntheticNodeWithVolumes) {
    super();
    this.#made = made;
  }

  override build(): RecordedNode {
    return new NodeWithVolumes({ clock: this.clock, answers: this.answers }, this.#made);
  }
}

class NodeWithVolumes extends RecordedNode {
  readonly #made: SyntheticNodeWithVolumes;

  constructor(
    recording: ConstructorParameters<typeof RecordedNode>[0],
    made: SyntheticNodeWithVolumes,
  ) {
    super(recording);
    this.#made = made;
  }

  override async ask<K extends QuestionKind>(kind: K, asked: Question<K>): Promise<Answer<K>> {
    const answer = this.#answer(asked);
    return answer === undefined ? super.ask(kind, asked) : (answer as Answer<K>);
  }

  #answer(asked: Question<QuestionKind>): unknown {
    if ('all' in asked) return this.#processes();
    if ('filesOf' in asked) {
      const process = this.#made.inhabitants?.find(({ pid }) => pid === asked.filesOf);
      if (process?.filesFailure && asked.under.length > 0) {
        throw new ReadError(process.filesFailure, `/proc/${process.pid}`);
      }
      return process?.files ?? [];
    }
    if (!('path' in asked) || !asked.path.startsWith(PODS)) return undefined;
    if ('levels' in asked) {
      return this.#made.volumes.map(({ podUid = POD_UID, plugin, entries, failure }) => ({
        folder: `${podUid}/volumes/${plugin}`,
        names: failure === undefined ? Object.keys(entries) : [],
        ...(failure === undefined ? {} : { failure }),
      }));
    }
    if ('names' in asked) return this.#entries(asked);
    return this.#status(asked.path);
  }

  #processes(): readonly ProcessEntry[] {
    const kubelet = { pid: 812, name: 'kubelet', namespace: OWN_NAMESPACE };
    return [kubelet, ...(this.#made.inhabitants ?? [])].map((one: SyntheticProcess) => ({
      pid: one.pid,
      parent: 1,
      name: one.name,
      state: 'S',
      startTime: '1532',
      cgroups: [one.cgroup ?? '/system.slice/kubelet.service'],
      mountNamespace: one.namespace === undefined ? OWN_NAMESPACE : one.namespace,
    }));
  }

  #entries({ path, names }: Question<'entries'>): Answer<'entries'> {
    const { isHung } = this.#folderAt(path) ?? {};
    if (isHung) throw new ReadError('timeout', path);
    return names.map((name) => {
      const status = this.#status(`${path}/${name}`);
      const { isEmpty = true } = this.#folderAt(path)?.entries[name] ?? {};
      return { name, status: status ?? null, isEmpty: status?.type === 'folder' ? isEmpty : null };
    });
  }

  #status(path: string): FileStatus | undefined {
    const at = path.lastIndexOf('/');
    const entries = this.#folderAt(path.slice(0, at))?.entries ?? {};
    const name = path.slice(at + 1);
    const entry = entries[name];
    if (!entry) return undefined;
    return {
      type: entry.type ?? 'folder',
      mode: 0o750,
      owner: 0,
      device: '254:1',
      inode: String(131_000 + Object.keys(entries).indexOf(name)),
      links: 2,
      sizeBytes: 4096,
      modifiedMs: CLOCK.getTime() - (entry.ageMs ?? DAY_MS),
    };
  }

  #folderAt(path: string): SyntheticVolumes | undefined {
    return this.#made.volumes.find(
      ({ podUid = POD_UID, plugin }) => path === `${PODS}/${podUid}/volumes/${plugin}`,
    );
  }
}
