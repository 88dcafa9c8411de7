import type { LooseText } from '../../model/suspicion.ts';

// --- /proc/812/task/840, as the collector writes above what it saw of each thread of the kubelet
const TASK = /^--- \/proc\/\d+\/task\/(\d+)$/m;

// wchan: request_wait_answer, rpc_wait_bit_killable, ceph_mdsc_wait_request
const WAIT =
  /^wchan: *(\w*(?:request_wait_answer|fuse|rpc_wait|nfs4?_|ceph_|cifs_|smb2?_|wait_on_commit)\w*)/m;

/** Seen once, a waiting thread proves no hang: a healthy kubelet waits for a moment, too. */
export function waitingThread({ whole }: Pick<LooseText, 'whole'>): string | undefined {
  for (const task of whole.split(/^(?=--- \/proc\/)/m)) {
    const wait = WAIT.exec(task)?.[1];
    if (wait === undefined) continue;
    const thread = TASK.exec(task)?.[1];
    const who = thread === undefined ? 'a thread' : `thread ${thread} of the kubelet`;
    return `shows ${who} waiting for a filesystem, in ${wait}, but not on which path, nor for how long`;
  }
  return undefined;
}
