import type { MountTable } from '../evidence/mounts/mount-table.ts';
import { flagValue } from '../evidence/processes/command-line.ts';

/** The default root directory of a kubelet. */
const USUAL_ROOT = '/var/lib/kubelet';

// /var/lib/kubelet/pods/29da79e5-386c-4e0d-82c1-215f93ff955d/volume-subpaths/conf/app/1
const POD_PATH =
  /(?<![\w.-])((?:\/[\w.@-]+)+)\/pods\/(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32})\/(?:volumes|volume-subpaths|plugins|containers|etc-hosts)/g;

/** How many mentions are enough to know the root. */
const MENTIONS_MAX = 2_000;

/** The root of the kubelet that the texts speak of: the one that they name most often. */
export function givenRoot(
  tables: readonly MountTable[],
  texts: readonly string[],
  commandLine: readonly string[],
): { readonly root: string; readonly rootOrigin: string } {
  const reported = flagValue(commandLine, 'root-dir');
  if (reported?.startsWith('/'))
    return { root: reported, rootOrigin: 'the command line of the kubelet' };
  const mentionsByRoot = new Map<string, number>();
  const targets = tables.flatMap(({ mounts }) => mounts.map(({ target }) => target));
  for (const text of [targets.join('\n'), ...texts]) {
    let mentions = 0;
    for (const [, root = ''] of text.matchAll(POD_PATH)) {
      mentionsByRoot.set(root, (mentionsByRoot.get(root) ?? 0) + weightOf(root));
      mentions += 1;
      if (mentions >= MENTIONS_MAX) break;
    }
  }
  const [best] = [...mentionsByRoot].toSorted(([, left], [, right]) => right - left);
  if (!best) return { root: USUAL_ROOT, rootOrigin: 'default' };
  return { root: best[0], rootOrigin: 'the paths in the given texts' };
}

/**
 * The kubelet's own paths decide: those of a container that has the node's root at /host, such as
 * node-exporter, count a tenth.
 */
function weightOf(root: string): number {
  return /^\/(?:host|rootfs|proc|hostfs)\b/.test(root) ? 0.1 : 1;
}
