import { attempt } from '../model/attempt.ts';
import type { Snapshot } from '../model/evidence.ts';
import type { NodeReader } from '../model/node-reader.ts';
import { PROCESSES_AT_ONCE_MAX } from './limits.ts';

/**
 * The process that unmounts this very target right now. A recovery that is killed leaves its umount
 * behind; should that come through later, it would take away what was mounted there meanwhile.
 */
export async function unmountUnderWay(
  target: string,
  { node }: Snapshot,
): Promise<number | undefined> {
  const names = await node.ask('folder', { path: '/proc' });
  // 812
  const pids = names.filter((name) => /^\d+$/.test(name));
  for (let start = 0; start < pids.length; start += PROCESSES_AT_ONCE_MAX) {
    const some = pids.slice(start, start + PROCESSES_AT_ONCE_MAX);
    const asked = await Promise.all(some.map((pid) => isUnmounting(`/proc/${pid}`, target, node)));
    const at = asked.indexOf(true);
    if (at >= 0) return Number(some[at]);
  }
  return undefined;
}

async function isUnmounting(process: string, target: string, node: NodeReader): Promise<boolean> {
  // A process that has ended meanwhile unmounts nothing.
  const textOf = async (name: string) => {
    const text = await attempt(node.ask('file', { path: `${process}/${name}` }));
    if (!text.known && text.error.failure !== 'missing') throw text.error;
    return text.known ? text.value : '';
  };
  // It is nsenter at first, where the kubelet has mounts of its own.
  if (!['umount', 'nsenter'].includes((await textOf('comm')).trim())) return false;
  // Uid:	0	0	0	0
  const isRoots = /^Uid:\s+0\s+0\s/m.test(await textOf('status'));
  // umount, --no-canonicalize, /proc/self/fd/4/var/lib/kubelet/pods/...
  const paths = (await textOf('cmdline'))
    .split('\0')
    .map((word) => word.replace(/^\/proc\/self\/fd\/\d+(?=\/)/, ''));
  return isRoots && paths.includes(target);
}
