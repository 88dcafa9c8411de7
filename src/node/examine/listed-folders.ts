import type { TreeFolder } from '../model/node-reader.ts';

// /var/lib/kubelet/pods/612f2e76-.../volumes/transwarp.io~tosdisk/pvc-f39e.deleting~859156558
const VOLUME_PATH = /^(\/.*)\/pods\/([^/]+)\/volumes\/([^/]+)\/([^/]+)\/?$/;

// drwxr-x--- 2 root root 4096 Jun  2 06:01 pvc-1.deleting~859156558, and with an inode before it
const LONG_LINE =
  /^\s*(?:\d+\s+(?:\d+\s+)?)?[dlbcps-][rwxsStT-]{9}[.+@]?\s+\d+\s+\S+\s+\S+\s+\d+(?:,\s*\d+)?\s+(?:\S+\s+\S+\s+[\d:]+|\d{4}-\d\d-\d\d \S+(?: [+-]\d{4})?)\s+(.+)$/;

// /var/lib/kubelet/pods/612f2e76-.../volumes/transwarp.io~tosdisk:
const HEADING = /^(\/.*):\s*$/;

// # ls -la /var/lib/kubelet/pods/612f2e76-.../volumes/transwarp.io~tosdisk
// [root@worker-7 ~]# ls /var/lib/kubelet/pods/612f2e76-.../volumes/transwarp.io~tosdisk/
export const LIST_COMMAND = /^(?:\S.{0,100})?[#$>] ?(?:sudo )?(?:ls|ll)(?: -\S+)* (\/\S+)\s*$/;

/** The paths that a listing names, in whichever form: find, ls, ls -l, ls -R. */
export function listedPaths(text: string): readonly string[] {
  return namesIn(text).filter((name) => name.startsWith('/'));
}

/** Names in a listing without their directory. */
export function bareNames(text: string): readonly string[] {
  return namesIn(text).filter((name) => !name.startsWith('/'));
}

// ├── pvc-f39e86b9-019b-11e8.deleting~859156558
const BRANCH = /^[\s\u2502|]*(?:[\u251c\u2514\u2502|`]\u2500*-*\s*)+(?=\S)/;

function namesIn(text: string): readonly string[] {
  const names: string[] = [];
  let folder: string | undefined;
  for (const raw of text.split('\n')) {
    const line = raw.trimEnd();
    if (line === '') continue;
    const heading = (HEADING.exec(line) ?? LIST_COMMAND.exec(line))?.[1];
    if (heading !== undefined) {
      folder = heading.replace(/\/+$/, '');
      continue;
    }
    const long = LONG_LINE.exec(line)?.[1]?.split(' -> ')[0];
    // 4.0K	/var/lib/kubelet/pods/612f2e76-.../volumes/transwarp.io~tosdisk/pvc-1
    const sized = /^\s*\d[\d.]*[KMGTP]?\s+(\/\S+)$/.exec(line)?.[1];
    const plain = line.includes(' ') ? '' : line;
    const isBranch = BRANCH.test(line);
    const name = isBranch ? line.replace(BRANCH, '') : (long ?? sized ?? plain);
    if (name === '' || name === '.' || name === '..' || name.startsWith('total ')) continue;
    if (name.startsWith('/') || folder === undefined || isBranch) names.push(name);
    else names.push(`${folder}/${name}`);
  }
  return names;
}

/** The directories of volumes among the paths, as a check of the node would list them. */
export function listedVolumes(
  paths: readonly string[],
  root: string,
): readonly TreeFolder[] | undefined {
  const folders = new Map<string, string[]>();
  for (const path of paths) {
    const [, top, podUid, plugin, name] = VOLUME_PATH.exec(path) ?? [];
    if (top !== root || !podUid || !plugin || !name) continue;
    const folder = `${podUid}/volumes/${plugin}`;
    const names = folders.get(folder);
    if (names) names.push(name);
    else folders.set(folder, [name]);
  }
  if (folders.size === 0) return undefined;
  return [...folders].map(([folder, names]) => ({ folder, names: [...new Set(names)] }));
}
