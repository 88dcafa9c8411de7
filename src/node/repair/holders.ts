import { attempt, type Snapshot } from '../model/evidence.ts';
import { HOLDER_LINKS_MAX, HOLDER_PROCESSES_MAX, HOLDERS_MAX, holdersMs } from './limits.ts';

export interface Holders {
  /** "tail (pid 77, fd/5)": the process, and by what it holds the mount. */
  readonly holders: readonly string[];
  /** False when a limit ended the search: there may be others. */
  readonly isWhole: boolean;
}

/** The processes in the mount namespace of `namespaceOf` that use the target or what lies on it. */
export async function holdersOf(
  target: string,
  namespaceOf: number,
  snapshot: Snapshot,
): Promise<Holders> {
  const until = performance.now() + holdersMs;
  let linksLeft = HOLDER_LINKS_MAX;
  // A question that fails means a process that ended meanwhile, and holds nothing.
  const ask = async <K extends 'link' | 'folder' | 'file'>(kind: K, path: string) => {
    linksLeft -= 1;
    const answer = await attempt(snapshot.node.ask(kind, { path }));
    return answer.known ? answer.value : undefined;
  };
  const isOnTarget = (path = '') => {
    const clean = path.replace(/ \(deleted\)$/, ''); // The kernel's mark of an unlinked file.
    return clean === target || clean.startsWith(`${target}/`);
  };
  const wayOf = async (process: string): Promise<string | undefined> => {
    const descriptors = (await ask('folder', `${process}/fd`)) ?? [];
    const all = ['cwd', 'root', 'exe', ...descriptors.map((name) => `fd/${name}`)];
    const ways = all.slice(0, Math.max(0, linksLeft));
    const links = await Promise.all(ways.map((way) => ask('link', `${process}/${way}`)));
    const held = links.findIndex(isOnTarget);
    if (held >= 0) return ways[held];
    // 7f1c0000-7f1c1000 r--s 00000000 fe:01 131 /var/lib/kubelet/pods/6f1c/.../web/1 (deleted)
    const maps = (await ask('file', `${process}/maps`)) ?? '';
    const isMapped = maps.split('\n').some((line) => isOnTarget(line.slice(line.indexOf('/'))));
    return isMapped ? 'maps' : undefined;
  };

  const namespace = await ask('link', `/proc/${namespaceOf}/ns/mnt`);
  // 812
  const pids = ((await ask('folder', '/proc')) ?? []).filter((name) => /^\d+$/.test(name));
  const holders: string[] = [];
  for (const pid of pids.slice(0, HOLDER_PROCESSES_MAX)) {
    const isSpent = linksLeft <= 0 || performance.now() > until;
    if (isSpent || holders.length === HOLDERS_MAX) return { holders, isWhole: false };
    if ((await ask('link', `/proc/${pid}/ns/mnt`)) !== namespace) continue;
    const way = await wayOf(`/proc/${pid}`);
    const command = way && ((await ask('file', `/proc/${pid}/comm`)) ?? '?').trim();
    if (way) holders.push(`${command} (pid ${pid}, ${way})`);
  }
  return { holders, isWhole: pids.length <= HOLDER_PROCESSES_MAX };
}
