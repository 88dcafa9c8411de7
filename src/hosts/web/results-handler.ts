import type { WebAnswer, WebRequest } from './answer.ts';
import { StatusError } from './status-error.ts';

export interface ResultsBackend {
  /** A file that was collected, or a result that is too large for a status, by its path. */
  readonly openStored: (path: string) => StoredFile | undefined;
}

interface StoredFile {
  readonly bytes: number;
  readonly pieces: AsyncIterable<Uint8Array>;
}

/** Hands out what steps have kept: to look at a profile nobody has to be on the node. */
export function answerResult(
  { openStored }: ResultsBackend,
  { method, path }: WebRequest,
): WebAnswer {
  if (method !== 'GET') {
    throw new StatusError('MethodNotAllowed', `${method} means nothing here: use GET`);
  }
  const whole = path.join('/');
  const file = openStored(whole);
  if (!file) {
    const text = `there is no file /${whole}: the newest of a kind are kept, and results as long as their Diagnosis`;
    throw new StatusError('NotFound', `${text}; see its status for what there is`);
  }
  const name = path.at(-1) ?? '';
  const headers = {
    'Content-Length': String(file.bytes),
    'Content-Disposition': `attachment; filename="${name}"`,
  };
  return { code: 200, type: 'application/octet-stream', headers, body: file.pieces };
}
