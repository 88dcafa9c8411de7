import type { Look } from '../model/evidence.ts';
import { attempt } from '../node/attempt.ts';
import { HOLDER_PROCESSES_MAX } from './limits.ts';

/**
 * The process that unmounts this very target right now. A recovery that is killed leaves its umount
 * behind; should that come through later, it would take away what was mounted there meanwhile.
 */
export async function unmountUnderWay(target: string, look: Look): Promise<number | undefined> {
  const names = await look.node.ask('folder', { path: '/proc' });
  // 812
  const pids = names.filter((name) => /^\d+$/.test(name)).slice(0, HOLDER_PROCESSES_MAX);
  const asked = await Promise.all(pids.map((pid) => isUnmounting(pid, target, look)));
  const at = asked.indexOf(true);
  return at < 0 ? undefined : Number(pids[at]);
}

async function isUnmounting(pid: string, target: string, { node }: Look): Promise<boolean> {
  const comm = await attempt(node.ask('file', { path: `/proc/${pid}/comm` }));
  if (!comm.known || comm.value.trim() !== 'umount') return false;
  const words = await attempt(node.ask('file', { path: `/proc/${pid}/cmdline` }));
  return words.known && words.value.split('\0').includes(target);
}
