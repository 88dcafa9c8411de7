import { fstatSync, readFileSync } from 'node:fs';
import { deviceText } from './file-status.ts';
import { unlessFailed } from './ignore-failure.ts';

/** Standard input, output and error. Node has read them before we run, so they do not hang us. */
const DESCRIPTORS = [0, 1, 2];

/**
 * The mounts that our input and output lie on, each with its device ("254:1"). The shell opened them,
 * perhaps in a mount namespace that no process of the node is in, so no table may show them.
 */
export function ownMounts(): ReadonlyMap<number, string> {
  return new Map(DESCRIPTORS.flatMap((descriptor) => mountOf(descriptor) ?? []));
}

function mountOf(descriptor: number): readonly (readonly [number, string])[] | undefined {
  return unlessFailed(IS_CLOSED, () => {
    const info = readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8');
    const { dev } = fstatSync(descriptor, { bigint: true });
    // mnt_id:	1042
    const id = /^mnt_id:\s*(\d+)$/m.exec(info)?.[1];
    return id === undefined ? [] : [[Number(id), deviceText(dev)]];
  });
}

const IS_CLOSED: ReadonlySet<string> = new Set(['ENOENT', 'EBADF']);
