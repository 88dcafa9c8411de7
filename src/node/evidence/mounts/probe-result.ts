import { attempt, type Snapshot } from '../../model/evidence.ts';
import type { ReadError } from '../../model/node-reader.ts';
import type { SuspectMount } from './suspect-mounts.ts';

/** Whether a mount still answers. */
export type ProbeResult =
  /** It answers, or its files are gone: nobody hangs on it. */
  | { readonly state: 'alive' }
  /** It answers with an error, at once: what it stands for is broken, but nobody hangs on it. */
  | { readonly state: 'corrupted'; readonly error: string }
  /** Neither of two tries was answered, or one who tried before us still waits. */
  | { readonly state: 'dead'; readonly text: string }
  | { readonly state: 'not-probed'; readonly why: string; readonly isNotRecorded?: true };

/** Asks one mount, by a reader that may be lost: twice, with growing patience. */
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

/** A server that could not be reached answers with ETIMEDOUT: that is no hang. */
export function isHang(error: ReadError): boolean {
  return error.failure === 'timeout' && codeOf(error) === undefined;
}

/** What the kubelet, too, takes for a mount that is broken, and never waits for. */
const CORRUPTED: ReadonlySet<string> = new Set([
  ...['ENOTCONN', 'ESTALE', 'EIO', 'EHOSTDOWN', 'EAGAIN', 'EWOULDBLOCK', 'ENODEV', 'ETIMEDOUT'],
  'ECONNABORTED', // Of a FUSE connection that was aborted.
]);

function errorOf(error: ReadError): ProbeResult {
  const { failure, message } = error;
  // It was unmounted since the table was read.
  if (failure === 'missing') return { state: 'alive' };
  const code = codeOf(error) ?? '';
  if (CORRUPTED.has(code)) return { state: 'corrupted', error: code };
  return { state: 'not-probed', why: message };
}
