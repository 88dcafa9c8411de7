import { jsonText } from '../../lib/std/json.ts';
import { API_VERSION } from '../../pipeline/api/kinds.ts';
import type { Selection, Store, StoreEvent } from '../../pipeline/store/store.ts';
import type { WebAnswer, WebRequest } from './answer.ts';
import { WATCH_SECONDS_MAX, WATCHES_MAX } from './limits.ts';
import { type ResourceTarget, selectionOf } from './resource-target.ts';
import { StatusError } from './status-error.ts';
import { includeObjectIn, tableOf, wantsTable } from './table.ts';

/** Counts the open watches of all clients. */
export class OpenWatches {
  count = 0;
}

/** One line for each event, until the client disconnects or the time is over. */
export function watchResources(
  store: Store,
  target: ResourceTarget,
  request: WebRequest,
  open: OpenWatches,
): WebAnswer {
  if (open.count >= WATCHES_MAX) {
    const message = `${WATCHES_MAX} watches are open already: close one, or list instead`;
    throw new StatusError('TooManyRequests', message);
  }
  if (request.query.has('sendInitialEvents')) {
    // Kubernetes clients know this answer, and list before they watch.
    const message =
      'sendInitialEvents is not supported: list, then watch from the resourceVersion of the list';
    throw new StatusError('Invalid', message);
  }
  const end = AbortSignal.any([request.stop, AbortSignal.timeout(1_000 * secondsOf(request))]);
  const events = eventsOf(store, target, request, end);
  const withBookmarks = /^(1|true)$/.test(request.query.get('allowWatchBookmarks') ?? '');
  const line = lineOf(target, request);
  const pieces = async function* (): AsyncGenerator<string> {
    open.count += 1;
    try {
      for await (const event of events) {
        if (event.type !== 'BOOKMARK' || withBookmarks) yield line(event);
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

/** 0 asks for the longest time, as for an API server. */
function secondsOf({ query }: WebRequest): number {
  const given = query.get('timeoutSeconds') ?? '0';
  if (!/^\d{1,9}$/.test(given)) {
    const message = `timeoutSeconds is "${given}": use a whole number of at most ${WATCH_SECONDS_MAX}`;
    throw new StatusError('BadRequest', message);
  }
  return Math.min(Number(given) || WATCH_SECONDS_MAX, WATCH_SECONDS_MAX);
}

function lineOf({ kind }: ResourceTarget, request: WebRequest): (event: StoreEvent) => string {
  const isTable = wantsTable(request);
  const include = includeObjectIn(request);
  return (event) => {
    const isBookmark = event.type === 'BOOKMARK';
    const { resourceVersion } = isBookmark ? event : event.object.metadata;
    const object = isBookmark
      ? { kind: kind.kind, apiVersion: API_VERSION, metadata: { resourceVersion } }
      : event.object;
    const rows = isBookmark ? [] : [event.object];
    const shown = isTable ? tableOf(kind, rows, resourceVersion, include) : object;
    return `${jsonText({ type: event.type, object: shown })}\n`;
  };
}

/** Parses the selectors before the first byte of the response. */
function eventsOf(
  store: Store,
  target: ResourceTarget,
  request: WebRequest,
  stop: AbortSignal,
): AsyncIterable<StoreEvent> {
  const selection = selectionOf(target, request);
  const resourceVersion = request.query.get('resourceVersion') ?? '';
  const { kind } = target.kind;
  const isFromStart = resourceVersion === '' || resourceVersion === '0';
  return isFromStart
    ? fromStart(store, kind, selection, stop)
    : store.watch(kind, { ...selection, resourceVersion, stop });
}

/** Begins with all objects that exist. */
async function* fromStart(
  store: Store,
  kind: ResourceTarget['kind']['kind'],
  selection: Selection,
  stop: AbortSignal,
): AsyncGenerator<StoreEvent> {
  const { objects, resourceVersion } = await store.each(kind, selection);
  for await (const object of objects) yield { type: 'ADDED', object };
  yield* store.watch(kind, { ...selection, resourceVersion, stop });
}
