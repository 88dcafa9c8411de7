import { defined } from '../../../lib/std/defined.ts';
import { attempt, defineEvidence, type Snapshot } from '../../model/evidence.ts';
import type { FileStatus } from '../../model/node-reader.ts';
import { kubelet } from '../kubelet/kubelet.ts';
import { unlessMissing } from '../text/file-path.ts';

/** The links from the root of a node into /usr that still exist. */
export interface MergedUsr {
  readonly bin: 'link' | 'folder' | 'other' | 'gone';
  /** The target of /bin, if it is a link. */
  readonly binTarget?: string;
  /** Only checked if /bin is missing: whether /usr/bin is a directory. */
  readonly hasUsrBin: boolean;
  /** Only checked if /bin is missing: "/sbin -> usr/sbin". These prove that /bin was a link too. */
  readonly siblings: readonly string[];
  /** Only checked if /bin is missing: the shell that a restored link would lead to. */
  readonly shell?: string;
  /** Only checked if /bin is missing: whether the kubelet's root is the node's, if known. */
  readonly isKubelets?: boolean;
}

/** Read from the node's root: without /bin, hardly any other program works. */
export const mergedUsr = defineEvidence<MergedUsr>({
  id: 'merged-usr',
  title: 'The directory /bin of the node',
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

/** Compares the directory that /bin led to: in a container's root it is another one, or missing. */
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
