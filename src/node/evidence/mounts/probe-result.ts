import { attempt, type Snapshot, type UnknownReason } from '../../model/evidence.ts';
import type { ReadError } from '../../model/node-reader.ts';
import type { SuspectMount } from './suspect-mounts.ts';

/** Whether a mount responds. */
export type ProbeResult =
  /** The mount responds, or no longer exists: no access hangs. */
  | { readonly state: 'alive' }
  /** The mount returns an error at once: it is broken, but no access hangs. */
  | { readonly state: 'corrupted'; readonly error: string }
  /** Two tries timed out, or an earlier reader still waits. */
  | { readonly state: 'dead'; readonly text: string }
  | ({ readonly state: 'not-probed'; readonly isNotRecorded?: true } & UnknownReason);

/** Probes a mount with a reader that may be lost: two tries, the second with a longer limit. */
export async function resultOf(
  snapshot: Snapshot,
  { mount, isVisible }: SuspectMount,
  path: string,
  limit: string | undefined,
): Promise<ProbeResult> {
  if (mount.fsType === 'autofs') {
    const why = 'to look at an autofs mount would mount what it stands for';
    return { state: 'not-probed', why };
  }
  if (!isVisible) return { state: 'not-probed', why: 'another mount lies over it' };
  if (limit !== undefined) return { state: 'not-probed', why: limit };
  const first = await attempt(snapshot.node.ask('status', { path }));
  if (first.known) return { state: 'alive' };
  if (first.error.failure === 'not-recorded') {
    return { state: 'not-probed', why: first.why, isNotRecorded: true };
  }
  if (!isHang(first.error)) return errorOf(first.error);
  const second = await attempt(snapshot.node.ask('status', { path, patience: 'long' }));
  if (second.known) return { state: 'alive' };
  if (!isHang(second.error)) return errorOf(second.error);
  return { state: 'dead', text: `no answer within 2 s, and none within 4 s more: ${path}` };
}

// ENOTCONN: socket is not connected, lstat '/proc/812/root/var/lib/kubelet/pods/...'
const ERROR_CODE = /^(E[A-Z]+)\b/;

function codeOf({ detail = '' }: ReadError): string | undefined {
  return ERROR_CODE.exec(detail)?.[1];
}

/** A server that could not be reached returns ETIMEDOUT: that is not a hang. */
export function isHang(error: ReadError): boolean {
  return error.failure === 'timeout' && codeOf(error) === undefined;
}

/** The kubelet also treats these errors as a corrupted mount, and does not wait for it. */
const CORRUPTED: ReadonlySet<string> = new Set([
  ...['ENOTCONN', 'ESTALE', 'EIO', 'EHOSTDOWN', 'EAGAIN', 'EWOULDBLOCK', 'ENODEV', 'ETIMEDOUT'],
  'ECONNABORTED', // The FUSE connection was aborted.
]);

function errorOf(error: ReadError): ProbeResult {
  const { failure, message } = error;
  // The mount was unmounted since the table was read.
  if (failure === 'missing') return { state: 'alive' };
  const code = codeOf(error) ?? '';
  if (CORRUPTED.has(code)) return { state: 'corrupted', error: code };
  return { state: 'not-probed', why: message, error };
}
