import type { ReadFile } from '../../pipeline/channel/executor.ts';
import type { Handler, WebAnswer } from '../web/answer.ts';
import { PROBE_PATHS, type Probes, probeAnswer } from '../web/probe-routes.ts';
import { StatusError } from '../web/status-error.ts';
import type { ResultKeys } from './result-keys.ts';

export interface AgentBackend extends Probes {
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
    const probe = probeAnswer(path, backend);
    if (probe) return probe;
    const [uid, file] = rest;
    if (first === 'results' && uid !== undefined && file !== undefined && rest.length === 2) {
      return answerResult(backend, { uid, file, key: query.get('key') ?? '' });
    }
    const paths = `/results/UID/FILE?key=KEY, ${PROBE_PATHS}`;
    throw new StatusError('NotFound', `/${path.join('/')} not found: use ${paths}`);
  };
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
