import type { Look } from '../model/evidence.ts';
import { attempt } from '../node/attempt.ts';
import { HOLDER_LINKS_MAX, HOLDER_PROCESSES_MAX, HOLDERS_MAX, holdersMs } from './limits.ts';

/** A process that keeps a mount busy, and by what: "fd/7", "cwd", "root", "exe", "maps". */
export interface Holder {
  readonly pid: number;
  readonly command: string;
  readonly by: string;
}

export interface Holders {
  readonly holders: readonly Holder[];
  /** False when a limit ended the search: there may be others. */
  readonly isWhole: boolean;
}

/** The processes in the mount namespace of `namespaceOf` that use the target or what lies on it. */
export async function holdersOf(target: string, namespaceOf: number, look: Look): Promise<Holders> {
  const scan = new Scan(look, target);
  const namespace = await scan.link(`/proc/${namespaceOf}/ns/mnt`);
  const pids = (await scan.names('/proc')).filter((name) => /^\d+$/.test(name));
  const holders: Holder[] = [];
  for (const pid of pids.slice(0, HOLDER_PROCESSES_MAX)) {
    if (holders.length === HOLDERS_MAX || scan.isSpent) return { holders, isWhole: false };
    if (namespace === undefined || (await scan.link(`/proc/${pid}/ns/mnt`)) !== namespace) continue;
    const by = await scan.wayOf(`/proc/${pid}`);
    if (by === undefined) continue;
    const command = await attempt(look.node.ask('file', { path: `/proc/${pid}/comm` }));
    holders.push({ pid: Number(pid), command: command.known ? command.value.trim() : '?', by });
  }
  return { holders, isWhole: pids.length <= HOLDER_PROCESSES_MAX };
}

/** Bounded questions: each failure means a process that ended meanwhile, and is no holder. */
class Scan {
  readonly #look: Look;
  readonly #target: string;
  readonly #until = performance.now() + holdersMs;
  #linksLeft = HOLDER_LINKS_MAX;

  constructor(look: Look, target: string) {
    this.#look = look;
    this.#target = target;
  }

  get isSpent(): boolean {
    return this.#linksLeft <= 0 || performance.now() > this.#until;
  }

  async link(path: string): Promise<string | undefined> {
    this.#linksLeft -= 1;
    const answer = await attempt(this.#look.node.ask('link', { path }));
    return answer.known ? answer.value : undefined;
  }

  async names(path: string): Promise<readonly string[]> {
    const answer = await attempt(this.#look.node.ask('folder', { path }));
    return answer.known ? answer.value : [];
  }

  /** By what this process holds the target; undefined when it does not. */
  async wayOf(folder: string): Promise<string | undefined> {
    const descriptors = (await this.names(`${folder}/fd`)).map((name) => `fd/${name}`);
    const ways = ['cwd', 'root', 'exe', ...descriptors].slice(0, Math.max(0, this.#linksLeft));
    const links = await Promise.all(ways.map((way) => this.link(`${folder}/${way}`)));
    const held = links.findIndex((link) => this.#isOnTarget(link));
    if (held >= 0) return ways[held];
    // 7f1c0000-7f1c1000 r--s 00000000 fe:01 131 /var/lib/kubelet/pods/6f1c/.../web/1 (deleted)
    const maps = await attempt(this.#look.node.ask('file', { path: `${folder}/maps` }));
    const lines = maps.known ? maps.value.split('\n') : [];
    return lines.some((line) => this.#isOnTarget(line.slice(line.indexOf('/'))))
      ? 'maps'
      : undefined;
  }

  /** The kernel adds " (deleted)" to the path of a file that was unlinked. */
  #isOnTarget(path: string | undefined): boolean {
    const clean = path?.replace(/ \(deleted\)$/, '');
    return clean === this.#target || (clean?.startsWith(`${this.#target}/`) ?? false);
  }
}
