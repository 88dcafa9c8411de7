import { fieldAt, listAt, textAt } from '../../../lib/std/json.ts';
import { API_VERSION, KIND_NAMES, type KindName } from '../../../pipeline/api/kind-names.ts';
import type { OperationSetSpec } from '../../../pipeline/api/operation-set.ts';
import { Informer } from '../../../pipeline/kube/informer.ts';
import type { ControllerContext } from '../controller-context.ts';
import { followCollectionAt } from '../follow-collection.ts';
import { openQueue } from '../open-queue.ts';
import { decideReadiness } from './decide-readiness.ts';

/** Writes the status of each OperationSet: its paths, or what is wrong with it. */
export async function operationSets(context: ControllerContext): Promise<void> {
  const operations = new Informer({ digest: (object) => textAt(object, 'metadata', 'name') });
  /** The Operations of each. */
  const sets = new Informer({ digest: operationsIn });
  const queue = openQueue(
    context,
    'operation-sets',
    (name) => reconcile(name, operations, context),
    1,
  );
  sets.onChange((name, now) => {
    if (now) queue.add(name);
  });
  operations.onChange((name, now, before) => {
    if (now !== undefined && before !== undefined) return;
    for (const [set, digest] of sets.entries()) if (digest.has(name)) queue.add(set);
  });
  const at = (kind: KindName) => `/apis/${API_VERSION}/${KIND_NAMES[kind].plural}`;
  const known = followCollectionAt(at('Operation'), operations, context);
  // Without this every set would be reported as incomplete first.
  await operations.synced;
  await Promise.all([known, followCollectionAt(at('OperationSet'), sets, context)]);
}

function operationsIn(set: unknown): ReadonlySet<string> {
  const nodes = listAt(set, 'spec', 'adjacencyList') ?? [];
  return new Set(nodes.flatMap((node) => textAt(node, 'operation') ?? []));
}

async function reconcile(
  name: string,
  operations: Informer<string>,
  { store, builtIns, now, onMessage }: ControllerContext,
): Promise<undefined> {
  const set = await store.get({ kind: 'OperationSet', name });
  if (!set || set.metadata.deletionTimestamp !== undefined) return;
  const { adjacencyList } = set.spec as OperationSetSpec;
  const builtIn = new Set(
    builtIns.filter(({ kind }) => kind === 'Operation').map(({ metadata }) => metadata.name),
  );
  const status = decideReadiness({
    adjacencyList,
    generation: set.metadata.generation,
    status: set.status,
    hasOperation: (operation) => builtIn.has(operation) || operations.get(operation) !== undefined,
    now: now(),
  });
  if (!status) return;
  await store.updateStatus({ ...set, status });
  const [ready] = status.conditions?.filter(({ type }) => type === 'Ready') ?? [];
  const wasReady = fieldAt(set.status, 'ready');
  if (wasReady !== status.ready) onMessage(`OperationSet ${name}: ${ready?.message}`);
}
