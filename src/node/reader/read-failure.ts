import { ReadError, type ReadFailure } from '../model/node-reader.ts';

const FAILURES: Readonly<Record<string, ReadFailure>> = {
  ENOENT: 'missing',
  ENOTDIR: 'missing',
  ESRCH: 'missing',
  EACCES: 'denied',
  EPERM: 'denied',
  ECONNREFUSED: 'refused',
};

/** Why a question failed, from an error of the kernel or of our own. */
export function failureOf(error: unknown): { failure: ReadFailure; detail?: string } {
  if (error instanceof ReadError) {
    const { failure, detail } = error;
    return detail === undefined ? { failure } : { failure, detail };
  }
  const { code, message } = error as NodeJS.ErrnoException;
  // A server that could not be reached is not a hanging path.
  if (code === 'ETIMEDOUT') return { failure: 'timeout', detail: message };
  const failure = FAILURES[code ?? ''];
  return failure ? { failure } : { failure: 'failed', detail: message };
}
