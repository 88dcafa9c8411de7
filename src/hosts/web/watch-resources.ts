import { jsonText } from '../../lib/std/json-text.ts';
import type { Store, StoredObject, StoreEvent } from '../../pipeline/store/store.ts';
import type { WebAnswer, WebRequest } from './answer.ts';
import { WATCH_SECONDS_MAX, WATCHES_MAX } from './limits.ts';
import type { ResourceTarget } from './resource-target.ts';
import { selectorIn } from './selector.ts';
import { StatusError } from './status-error.ts';
import { includeObjectIn, tableOf, wantsTable } from './table.ts';

/** Counts the watches that are open, for all who ask at one server. */
export class OpenWatches {
  count = 0;
}

/** One line for each change, until whoever asked has seen enough or the time is over. */
export function watchResources(
  store: Store,
  target: ResourceTarget,
  request: WebRequest,
  open: OpenWatches,
): WebAnswer {
  if (open.count >= WATCHES_MAX) {
    const text = `${WATCHES_MAX} watches are open already: end one, or list instead`;
    throw new StatusError('TooManyRequests', text);
  }
  if (request.query.has('sendInitialEvents')) {
    // Clients of Kubernetes know this answer, and list before they watch.
    const text = 'sendInitialEvents is not known here: list, then watch from its resourceVersion';
    throw new StatusError('Invalid', text);
  }
  const endsMs = 1_000 * secondsOf(request);
  const asTable = wantsTable(request);
  const include = includeObjectIn(request);
  const line = ({ type, object }: StoreEvent): string => {
    const { resourceVersion } = object.metadata;
    const shown = asTable ? tableOf(target.kind, [object], resourceVersion, include) : object;
    return `${jsonText({ type, object: shown })}\n`;
  };
  const isWanted = selectorOf(target, request);
  const pieces = async function* (): AsyncGenerator<string> {
    open.count += 1;
    try {
      for await (const event of eventsOf(store, target, request, endsMs)) {
        if (isWanted(event.object)) yield line(event);
      }
    } finally {
      open.count -= 1;
    }
  };
  return {
    code: 200,
    type: 'application/json;stream=watch',
    body: pieces(),
    asLastPiece: (status) => `${jsonText({ type: 'ERROR', object: status })}\n`,
  };
}

/** As long as is asked for; 0 asks for no end, as at an API server. */
function secondsOf({ query }: WebRequest): number {
  const given = query.get('timeoutSeconds') ?? '0';
  if (!/^\d{1,9}$/.test(given)) {
    const text = `timeoutSeconds is "${given}": give whole seconds, ${WATCH_SECONDS_MAX} at most`;
    throw new StatusError('BadRequest', text);
  }
  return Math.min(Number(given) || WATCH_SECONDS_MAX, WATCH_SECONDS_MAX);
}

function selectorOf({ namespace, name }: ResourceTarget, { query }: WebRequest) {
  const isSelected = selectorIn(query);
  return (object: StoredObject): boolean => {
    const { metadata } = object;
    const isPlace = namespace === undefined || metadata.namespace === namespace;
    return isPlace && (name === undefined || metadata.name === name) && isSelected(object);
  };
}

/** Without a version it begins with all that is there. */
async function* eventsOf(
  store: Store,
  { kind, namespace }: ResourceTarget,
  { query, stop }: WebRequest,
  endsMs: number,
): AsyncGenerator<StoreEvent> {
  const end = AbortSignal.any([stop, AbortSignal.timeout(endsMs)]);
  const given = query.get('resourceVersion') ?? '';
  let from = given;
  if (given === '' || given === '0') {
    const { objects, resourceVersion } = await store.each(kind.kind, namespace);
    for (const object of objects) yield { type: 'ADDED', object };
    from = resourceVersion;
  }
  yield* store.watch(kind.kind, from, end);
}
