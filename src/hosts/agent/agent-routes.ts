import type { ReadFile } from '../../pipeline/channel/executor.ts';
import { type Handler, plain, type WebAnswer } from '../web/answer.ts';
import { StatusError } from '../web/status-error.ts';
import type { ResultKeys } from './result-keys.ts';

export interface AgentBackend {
  /** Undefined when the agent is ready. */
  readonly notReadyReason: () => string | undefined;
  readonly metrics: () => string;
  readonly resultKeys: Pick<ResultKeys, 'isRight' | 'nameOf'>;
  readonly readFile: (path: string) => Promise<ReadFile | undefined>;
}

/** Anybody in the cluster may ask: nothing here is private, but results and files, which need their key. */
export function agentRoutes(backend: AgentBackend): Handler {
  return async ({ method, path, query }) => {
    if (method !== 'GET' && method !== 'HEAD') {
      throw new StatusError('MethodNotAllowed', `${method} is not supported: use GET`);
    }
    const [first = '', ...rest] = path;
    if (rest.length === 0) {
      if (first === 'healthz' || first === 'livez') return plain('ok\n');
      if (first === 'readyz') return readiness(backend.notReadyReason());
      if (first === 'metrics') {
        const type = 'text/plain; version=0.0.4; charset=utf-8';
        return { code: 200, type, body: backend.metrics() };
      }
    }
    const [uid, file] = rest;
    if (first === 'results' && uid !== undefined && file !== undefined && rest.length === 2) {
      return answerResult(backend, { uid, file, key: query.get('key') ?? '' });
    }
    const paths = '/results/UID/FILE?key=KEY, /metrics, /healthz, /livez, /readyz';
    throw new StatusError('NotFound', `/${path.join('/')} not found: use ${paths}`);
  };
}

function readiness(why: string | undefined): WebAnswer {
  return why === undefined ? plain('ok\n') : plain(`${why}\n`, 503);
}

interface AskedResult {
  readonly uid: string;
  readonly file: string;
  readonly key: string;
}

async function answerResult(
  { resultKeys, readFile }: AgentBackend,
  { uid, file, key }: AskedResult,
): Promise<WebAnswer> {
  const wrong = new StatusError(
    'NotFound',
    `/results/${uid}/${file}: not found with this key: status.largeResults and status.files of the ` +
      'Diagnosis list file and accessKey; results and files are deleted with their Diagnosis',
  );
  // The same answer without the key and without the file: nobody learns which results there are.
  if (!resultKeys.isRight(uid, file, key)) throw wrong;
  const found = await readFile(`results/${uid}/${file}`);
  if (!found) throw wrong;
  const name = resultKeys.nameOf(uid, file)?.replaceAll(/[^\w.-]/g, '_');
  const headers = {
    'Content-Length': String(found.bytes),
    ...(name ? { 'Content-Disposition': `attachment; filename="${name}"` } : {}),
  };
  return { code: 200, type: 'application/octet-stream', headers, body: found.pieces };
}
