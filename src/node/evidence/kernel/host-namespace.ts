import type { Snapshot } from '../../model/evidence.ts';
import { ReadError } from '../../model/node-reader.ts';

/** The inode of the initial PID namespace, the same on every Linux. */
export const FIRST_PID_NAMESPACE = 'pid:[4026531836]';

const OPTIONS = { net: 'hostNetwork', pid: 'hostPID' } as const;
const NAMES = { net: 'network', pid: 'PID' } as const;

export type HostNamespace = keyof typeof OPTIONS;

/**
 * /proc/sys/net shows the network namespace of the reader, and /proc its PID namespace. Throws
 * unless that is the host's.
 */
export async function requireHostNamespace(
  { node }: Pick<Snapshot, 'node'>,
  kind: HostNamespace,
): Promise<void> {
  const path = `/proc/1/ns/${kind}`;
  const host = await node.ask('link', { path });
  const own =
    kind === 'pid'
      ? FIRST_PID_NAMESPACE
      : await node.ask('link', { path: `/proc/self/ns/${kind}` });
  if (own === host) return;
  const cure = `use ${OPTIONS[kind]}, or run it on the node`;
  throw new ReadError(
    'unsupported',
    path,
    `kubediag runs in another ${NAMES[kind]} namespace: ${cure}`,
  );
}
