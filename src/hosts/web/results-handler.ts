import type { WebAnswer, WebRequest } from './answer.ts';
import { StatusError } from './status-error.ts';

export interface ResultsBackend {
  /** A collected file, or a result that is too large for a status, by its path. */
  readonly openStored: (path: string) => StoredFile | undefined;
}

interface StoredFile {
  readonly bytes: number;
  readonly pieces: AsyncIterable<Uint8Array>;
}

/** Serves the files of steps, so that nobody has to be on the node to see a profile. */
export function answerResult(
  { openStored }: ResultsBackend,
  { method, path }: WebRequest,
): WebAnswer {
  if (method !== 'GET') {
    throw new StatusError('MethodNotAllowed', `${method} is not supported: use GET`);
  }
  const whole = path.join('/');
  const file = openStored(whole);
  if (!file) {
    const text = `/${whole} not found: results are deleted with their Diagnosis, and old files after newer ones`;
    throw new StatusError('NotFound', `${text}; the status of the Diagnosis lists them`);
  }
  const name = path.at(-1) ?? '';
  const headers = {
    'Content-Length': String(file.bytes),
    'Content-Disposition': `attachment; filename="${name}"`,
  };
  return { code: 200, type: 'application/octet-stream', headers, body: file.pieces };
}
