import type { ReadError } from '../../model/node-reader.ts';

const HANGS: readonly RegExp[] = [
  // reader 4711 still waits there
  /^reader \d+ still waits there$/,
  // no answer from /run/containerd/containerd.sock within 5000 ms
  /^no answer from .+ within \d+ ms$/,
  // /run/containerd/containerd.sock accepts no more connections
  /^.+ accepts no more connections$/,
];

/** The other timeouts are ours: the time of the check is over, or too many readers are lost. */
export function isHang({ failure, detail }: ReadError): boolean {
  return (
    failure === 'timeout' && (detail === undefined || HANGS.some((pattern) => pattern.test(detail)))
  );
}
