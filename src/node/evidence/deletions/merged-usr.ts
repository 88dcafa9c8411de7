import { defined } from '../../../lib/std/defined.ts';
import { attempt, defineEvidence, type Snapshot } from '../../model/evidence.ts';
import type { FileStatus } from '../../model/node-reader.ts';
import { kubelet } from '../kubelet/kubelet.ts';
import { unlessMissing } from '../text/file-path.ts';

/** What is left of the links that lead from the root of a node into /usr. */
export interface MergedUsr {
  readonly bin: 'link' | 'folder' | 'other' | 'gone';
  /** Where /bin leads, when it is a link. */
  readonly binTarget?: string;
  /** Only checked when /bin is gone: whether /usr/bin is a folder. */
  readonly hasUsrBin: boolean;
  /** Only checked when /bin is gone: "/sbin -> usr/sbin". They prove that /bin was a link too. */
  readonly siblings: readonly string[];
  /** Only checked when /bin is gone: the shell to which it would lead again. */
  readonly shell?: string;
  /** Only checked when /bin is gone: whether the root of the kubelet is the node's; absent when not known. */
  readonly isKubelets?: boolean;
}

/** Seen from the node's own root: with /bin gone hardly anything else on it can look. */
export const mergedUsr = defineEvidence<MergedUsr>({
  id: 'merged-usr',
  title: 'The folder /bin of the node',
  command: 'ls -ld /bin /sbin /lib /usr/bin',
  collect: async (snapshot) => {
    const { node } = snapshot;
    const unchecked = { hasUsrBin: false, siblings: [] };
    const status = await unlessMissing(node.ask('status', { path: '/bin' }));
    if (status?.type === 'link') {
      return { bin: 'link', binTarget: await node.ask('link', { path: '/bin' }), ...unchecked };
    }
    if (status) return { bin: status.type === 'folder' ? 'folder' : 'other', ...unchecked };
    const usrBin = await unlessMissing(node.ask('status', { path: '/usr/bin' }));
    return defined({
      bin: 'gone',
      hasUsrBin: usrBin?.type === 'folder',
      shell: await firstShell(snapshot),
      isKubelets: await isRootOfKubelet(snapshot, usrBin),
      siblings: await siblings(snapshot),
    });
  },
});

/** By the folder that /bin led to: in the root of a container it is another, or missing. */
async function isRootOfKubelet(
  snapshot: Snapshot,
  ours: FileStatus | undefined,
): Promise<boolean | undefined> {
  const here = await attempt(snapshot.of(kubelet));
  const process = here.known ? here.value.process : undefined;
  if (!process || !ours) return undefined;
  const path = `/proc/${process.pid}/root/usr/bin`;
  const theirs = await attempt(unlessMissing(snapshot.node.ask('status', { path })));
  if (!theirs.known) return undefined;
  return theirs.value?.device === ours.device && theirs.value.inode === ours.inode;
}

const SHELLS = ['/usr/bin/sh', '/usr/bin/bash'];

async function firstShell({ node }: Snapshot): Promise<string | undefined> {
  for (const path of SHELLS) {
    if (await unlessMissing(node.ask('status', { path }))) return path;
  }
  return undefined;
}

// usr/sbin, /usr/lib
const INTO_USR = /^\/?usr\/[^/]+\/?$/;

async function siblings({ node }: Snapshot): Promise<readonly string[]> {
  const found: string[] = [];
  for (const path of ['/sbin', '/lib']) {
    const status = await unlessMissing(node.ask('status', { path }));
    if (status?.type !== 'link') continue;
    const target = await node.ask('link', { path });
    if (INTO_USR.test(target)) found.push(`${path} -> ${target}`);
  }
  return found;
}
