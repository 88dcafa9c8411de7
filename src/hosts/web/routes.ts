import { API_VERSION, GROUP, VERSION } from '../../pipeline/api/kinds.ts';
import { type Handler, json, plain, type WebAnswer, type WebRequest } from './answer.ts';
import {
  groupList,
  noCoreVersions,
  openApiDocument,
  openApiIndex,
  ownGroup,
  resourceList,
} from './discovery.ts';
import { answerIntake, INTAKE_PATHS, type IntakeBackend } from './intake-handler.ts';
import { answerProcessor, type ProcessorBackend } from './processor-handler.ts';
import { resourceTarget } from './resource-target.ts';
import { answerResource, type ResourceBackend } from './resources.ts';
import { answerResult, type ResultsBackend } from './results-handler.ts';
import { StatusError } from './status-error.ts';

export interface Backends extends ResourceBackend, ProcessorBackend, IntakeBackend, ResultsBackend {
  readonly productVersion: string;
  readonly metrics: () => Promise<string>;
  /** Undefined when the agent is ready. */
  readonly notReadyReason: () => Promise<string | undefined>;
}

/** Calls the handler of a path. */
export function routes(backends: Backends): Handler {
  return async (request) => {
    const [first = '', ...rest] = request.path;
    switch (first) {
      case 'healthz':
      case 'livez':
        return read(request, plain('ok\n'));
      case 'readyz':
        return read(request, readiness(await backends.notReadyReason()));
      case 'metrics':
        return read(request, {
          code: 200,
          type: 'text/plain; version=0.0.4; charset=utf-8',
          body: await backends.metrics(),
        });
      case 'version':
        return read(
          request,
          json({ major: '1', minor: '36', gitVersion: backends.productVersion }),
        );
      case 'processor':
        return answerProcessor(backends, request);
      case 'collected':
      case 'results':
        return answerResult(backends, request);
      case 'api':
        if (rest.length === 0) return read(request, json(noCoreVersions));
        if (INTAKE_PATHS.includes(`/api/${rest.join('/')}`)) return answerIntake(backends, request);
        break;
      case 'openapi':
        if (rest.join('/') === 'v3') return read(request, json(openApiIndex));
        if (rest.join('/') === `v3/apis/${API_VERSION}`) {
          return read(request, json(openApiDocument()));
        }
        break;
      case 'apis':
        return answerGroup(backends, rest, request);
      default:
    }
    const paths = `/apis/${GROUP}/${VERSION}, /processor/NAME, /collected, /results, ${INTAKE_PATHS.join(', ')}, /metrics, /healthz, /readyz`;
    throw new StatusError('NotFound', `/${request.path.join('/')} not found: use ${paths}`);
  };
}

function readiness(why: string | undefined): WebAnswer {
  return why === undefined ? plain('ok\n') : plain(`${why}\n`, 503);
}

async function answerGroup(backends: Backends, path: readonly string[], request: WebRequest) {
  const [group, version, ...rest] = path;
  if (group === undefined) return read(request, json(groupList));
  if (group !== GROUP || (version !== undefined && version !== VERSION)) {
    const text = `/apis/${path.join('/')} not found: the group is ${GROUP}/${VERSION}`;
    throw new StatusError('NotFound', text);
  }
  if (version === undefined) return read(request, json(ownGroup));
  if (rest.length === 0) return read(request, json(resourceList));
  return answerResource(backends, resourceTarget(rest), request);
}

function read({ method }: WebRequest, answer: WebAnswer): WebAnswer {
  if (method === 'GET' || method === 'HEAD') return answer;
  throw new StatusError('MethodNotAllowed', `${method} is not supported: use GET`);
}
