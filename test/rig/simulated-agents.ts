import { mapAtOnce } from '../../src/lib/std/map-at-once.ts';
import { NAMESPACE } from '../../src/pipeline/api/cluster-names.ts';
import type { StepResult } from '../../src/pipeline/api/results.ts';
import { largeResultsInMemory } from '../../src/pipeline/diagnosis/large-results.ts';
import {
  type OperationLookup,
  storeLookup,
} from '../../src/pipeline/diagnosis/operation-lookup.ts';
import { Runner } from '../../src/pipeline/diagnosis/runner.ts';
import { type KubeClient, openKubeClient } from '../../src/pipeline/kube/kube-client.ts';
import { kubeStore } from '../../src/pipeline/kube/kube-store.ts';
import { Lease } from '../../src/pipeline/kube/lease.ts';
import { sleepUntilStopped } from '../../src/pipeline/store/sleep-until-stopped.ts';
import type { Store } from '../../src/pipeline/store/store.ts';
import { answerOf } from '../../src/pipeline/store/store-answer.ts';
import { storeWith } from '../store-with.ts';
import type { ApiServer } from './api-server.ts';

const AT_ONCE = 16;
const STEP_MS = 10;
const LEASE_RENEW_MS = 30_000;
const LEASE_SECONDS = 120;

/** Nodes without a kubelet have this label. */
export const SIMULATED_LABEL = 'kubediag.test/simulated';

/** A step on a node; `stop` says that nobody waits for it any more. */
export type SimulatedStep = (
  nodeName: string,
  stop: AbortSignal,
  operation: string,
) => Promise<StepResult>;

interface SimulatedAgentsOptions {
  /** "sim" gives the nodes sim-0000, sim-0001 and so on. */
  readonly prefix?: string;
  /** The result of each step, after a while; the default succeeds soon. */
  readonly step?: SimulatedStep;
  /** Whether every agent also watches OperationSets and Operations, as real ones do. */
  readonly watchesGraphs?: boolean;
}

/**
 * The agents of a cluster without its nodes: each has a Node, a Lease that it renews, connections of its
 * own, a watch on the Diagnoses of its node, and the real Runner. Only the steps are simulated.
 */
export class SimulatedAgents {
  /** How often a step has run, by the uid of its Diagnosis. */
  readonly runs = new Map<string, number>();
  readonly errors: string[] = [];
  readonly nodeNames: readonly string[];
  readonly #api: Pick<ApiServer, 'server' | 'credentials' | 'client'>;
  readonly #options: SimulatedAgentsOptions;
  readonly #agents = new Map<string, { readonly stop: () => Promise<void> }>();

  constructor(
    api: Pick<ApiServer, 'server' | 'credentials' | 'client'>,
    count: number,
    options: SimulatedAgentsOptions = {},
  ) {
    this.#api = api;
    this.#options = options;
    const { prefix = 'sim' } = options;
    const nameAt = (at: number) => `${prefix}-${String(at).padStart(4, '0')}`;
    this.nodeNames = Array.from({ length: count }, (_, at) => nameAt(at));
  }

  /** Creates Nodes and starts agents; all of them by default. */
  async start(names: readonly string[] = this.nodeNames): Promise<void> {
    await createNodes(this.#api.client, names);
    await mapAtOnce(names, AT_ONCE, (name) => this.#start(name));
  }

  /** Stops agents without a release of their Leases, as a node does that dies. */
  async lose(names: readonly string[]): Promise<void> {
    await Promise.all(names.map(async (name) => this.#agents.get(name)?.stop()));
    for (const name of names) this.#agents.delete(name);
  }

  async stop(): Promise<void> {
    await this.lose([...this.#agents.keys()]);
  }

  async #start(nodeName: string): Promise<void> {
    const { server, credentials } = this.#api;
    const client = openKubeClient({ server, credentials: async () => credentials });
    const shutdown = new AbortController();
    const onError = (message: string) => {
      if (!shutdown.signal.aborted) this.errors.push(`${nodeName}: ${message}`);
    };
    const lease = new Lease(client, {
      namespace: NAMESPACE,
      name: nodeName,
      holder: nodeName,
      durationSeconds: LEASE_SECONDS,
    });
    const first = await answerOf(lease.hold());
    if (!first.ok) onError(first.error.message);
    const renewing = renew(lease, shutdown.signal, onError);
    const runner = this.#runner(nodeName, kubeStore(client), shutdown.signal, onError);
    const running = runner.run();
    this.#agents.set(nodeName, {
      stop: async () => {
        shutdown.abort();
        await Promise.all([renewing, running]);
        client.close();
      },
    });
  }

  #runner(
    nodeName: string,
    store: Store,
    shutdown: AbortSignal,
    onError: (message: string) => void,
  ): Runner {
    const { step = stepOf(STEP_MS), watchesGraphs = false } = this.#options;
    const lookup: OperationLookup = storeLookup(
      store,
      async () => ({ operations: new Map(), operationSets: new Map() }),
      { isWatched: true },
    );
    return new Runner({
      store: watchesGraphs ? store : withoutGraphWatches(store),
      selection: { fieldSelector: `spec.nodeName=${nodeName}` },
      lookup,
      largeResults: largeResultsInMemory(),
      targetOf: (spec) =>
        spec.nodeName === nodeName ? { state: 'here', nodeName } : { state: 'elsewhere' },
      runStep: async ({ name: operation, diagnosis: { uid }, stop }) => {
        this.runs.set(uid, (this.runs.get(uid) ?? 0) + 1);
        return step(nodeName, stop, operation);
      },
      shutdown,
      onError,
    });
  }
}

/** A step that succeeds after a while. */
export function stepOf(ms: number): SimulatedStep {
  return async (_, stop) => {
    await sleepUntilStopped(ms, stop);
    return stop.aborted
      ? { succeeded: false, message: 'stopped' }
      : { succeeded: true, results: { done: 'yes' } };
  };
}

/** Graphs are read when they are needed, and nobody says when they change. */
function withoutGraphWatches(store: Store): Store {
  return storeWith(store, {
    each: async (kind, selection) =>
      kind === 'Diagnosis'
        ? store.each(kind, selection)
        : { objects: listOf([]), resourceVersion: '1' },
    watch: (kind, options) =>
      kind === 'Diagnosis' ? store.watch(kind, options) : silence(options.stop),
  });
}

async function* listOf<T>(objects: readonly T[]): AsyncGenerator<T> {
  yield* objects;
}

async function* silence<T>(stop: AbortSignal, objects: readonly T[] = []): AsyncGenerator<T> {
  yield* objects;
  await new Promise<void>((resolve) => {
    if (stop.aborted) resolve();
    else stop.addEventListener('abort', () => resolve(), { once: true });
  });
}

async function renew(
  lease: Lease,
  stop: AbortSignal,
  onError: (message: string) => void,
): Promise<void> {
  // Spread, as the agents of a real cluster are.
  await sleepUntilStopped(Math.random() * LEASE_RENEW_MS, stop);
  while (!stop.aborted) {
    const answer = await answerOf(lease.hold());
    if (!answer.ok) onError(answer.error.message);
    await sleepUntilStopped(LEASE_RENEW_MS, stop);
  }
}

/** Nodes without a kubelet, with the label "even". */
export async function createNodes(client: KubeClient, names: readonly string[]): Promise<void> {
  await mapAtOnce(names, AT_ONCE, async (name) => {
    const even = String(Number(name.slice(-1)) % 2 === 0);
    const labels = { even, [SIMULATED_LABEL]: 'true' };
    const body = { apiVersion: 'v1', kind: 'Node', metadata: { name, labels } };
    const answer = await answerOf(client.request({ method: 'POST', path: '/api/v1/nodes', body }));
    if (!answer.ok && answer.error.reason !== 'AlreadyExists') throw answer.error;
  });
}
