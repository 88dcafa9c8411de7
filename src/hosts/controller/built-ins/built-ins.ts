import { textAt } from '../../../lib/std/json.ts';
import { API_VERSION, KIND_NAMES } from '../../../pipeline/api/kind-names.ts';
import { Informer } from '../../../pipeline/kube/informer.ts';
import type { NewObject, StoredObject } from '../../../pipeline/store/store.ts';
import { gauge } from '../../web/metrics.ts';
import type { ControllerContext } from '../controller-context.ts';
import { followCollectionAt } from '../follow-collection.ts';
import { openQueue } from '../open-queue.ts';
import { recordEvent } from '../record-event.ts';
import { decideBuiltIn } from './decide-built-in.ts';

const KINDS = ['Operation', 'OperationSet'] as const;

/** Creates the built-in Operations and OperationSets, and updates those that nobody else has changed. */
export async function builtIns(context: ControllerContext): Promise<void> {
  const wanted = new Map(context.builtIns.map((each) => [keyOf(each), each]));
  const conflicts = new Map<string, string>();
  const work = async (key: string): Promise<undefined> => {
    const builtIn = wanted.get(key);
    if (builtIn) await reconcile(builtIn, conflicts, context);
  };
  const queue = openQueue(context, 'built-ins', work, 1);
  const following = KINDS.map((kind) => {
    const informer = new Informer({
      digest: (object) => textAt(object, 'metadata', 'resourceVersion'),
    });
    informer.onChange((name) => queue.add(`${kind}/${name}`));
    const path = `/apis/${API_VERSION}/${KIND_NAMES[kind].plural}`;
    return { informer, isDone: followCollectionAt(path, informer, context) };
  });
  await Promise.all(following.map(({ informer }) => informer.synced));
  for (const key of wanted.keys()) queue.add(key);
  await Promise.all(following.map(({ isDone }) => isDone));
}

async function reconcile(
  builtIn: NewObject,
  conflicts: Map<string, string>,
  context: ControllerContext,
): Promise<void> {
  const { store, onMessage } = context;
  const { kind, metadata } = builtIn;
  const seen = await store.get({ kind, name: metadata.name });
  const decision = decideBuiltIn(builtIn, seen);
  if (decision.kind === 'create') await store.create(decision.object);
  if (decision.kind === 'update') await store.update(decision.object);
  if (decision.kind !== 'leave') onMessage(`${kind} ${metadata.name}: ${decision.kind}d`);
  const conflict = decision.kind === 'leave' ? decision.conflict : undefined;
  const isNew = conflict !== undefined && conflicts.get(keyOf(builtIn)) !== conflict;
  if (conflict === undefined) conflicts.delete(keyOf(builtIn));
  else conflicts.set(keyOf(builtIn), conflict);
  count(conflicts, context);
  if (isNew && seen) await report(conflict, seen, context);
}

function count(conflicts: ReadonlyMap<string, string>, { metrics }: ControllerContext): void {
  const name = 'kubediag_built_ins_not_managed';
  const samples = KINDS.map((kind) => ({
    labels: { kind },
    value: [...conflicts.keys()].filter((key) => key.startsWith(`${kind}/`)).length,
  }));
  const help = 'Objects with the name of a built-in one that the controller leaves as they are.';
  metrics.set(name, gauge(name, help, samples));
}

async function report(
  conflict: string,
  { apiVersion, kind, metadata: { name, uid } }: StoredObject,
  context: ControllerContext,
): Promise<void> {
  context.onMessage(conflict);
  const regarding = { apiVersion, kind, name, uid };
  const event = { type: 'Warning', reason: 'BuiltInNotManaged', action: 'Skipped' } as const;
  await recordEvent(context, { ...event, regarding, note: conflict });
}

// OperationSet/stale-subpath-mount
function keyOf({ kind, metadata: { name } }: NewObject): string {
  return `${kind}/${name}`;
}
