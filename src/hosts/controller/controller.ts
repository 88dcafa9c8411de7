import type { Explanation } from '../../lib/std/explanation.ts';
import { messageOf } from '../../lib/std/message-of.ts';
import { withoutRepeats } from '../../lib/std/without-repeats.ts';
import { CONTROLLER_LEASE, CONTROLLER_REPORTER } from '../../pipeline/api/cluster-names.ts';
import { API_VERSION, KIND_NAMES } from '../../pipeline/api/kind-names.ts';
import { ApiContact } from '../../pipeline/kube/api-contact.ts';
import { EventRecorder } from '../../pipeline/kube/event-recorder.ts';
import { Informer } from '../../pipeline/kube/informer.ts';
import { openKubeClient } from '../../pipeline/kube/kube-client.ts';
import { kubeStore } from '../../pipeline/kube/kube-store.ts';
import { lead, writingWhile } from '../../pipeline/kube/lead.ts';
import { Lease } from '../../pipeline/kube/lease.ts';
import { LEAD_SECONDS } from '../../pipeline/kube/limits.ts';
import { openAccess } from '../../pipeline/kube/open-access.ts';
import type { NewObject } from '../../pipeline/store/store.ts';
import { counter, gauge, metricsText, type Sample } from '../web/metrics.ts';
import { PROBE_PATHS, probeAnswer } from '../web/probe-routes.ts';
import { listenFailure, startServer, urlOf } from '../web/server.ts';
import { StatusError } from '../web/status-error.ts';
import type { ControllerContext } from './controller-context.ts';
import { diagnosisDigest, leaseDigest, nodeDigest } from './digests.ts';
import { followCollectionAt, unsyncedReason } from './follow-collection.ts';
import { API_SILENT_MS } from './limits.ts';
import { PARTS } from './parts.ts';

export interface ControllerOptions {
  /** Empty: every address, of IPv4 and of IPv6. */
  readonly host: string;
  readonly port: number;
  /** Absent: the account of the pod. */
  readonly kubeconfig?: string | undefined;
  /** The namespace of our Leases. */
  readonly namespace: string;
  /** Name of this process in the Lease of the leader, unique for each process. */
  readonly identity: string;
  readonly version: string;
  /** The built-in Operations and OperationSets of this version. */
  readonly builtIns: readonly NewObject[];
  /** Shorter times, for tests. */
  readonly times?: Pick<ControllerContext, 'arrivalMs' | 'lostEndMs'>;
}

export interface ControllerListener {
  readonly onStart: (start: { readonly url: string }) => void;
  /** Called with one line for each change and each error. */
  readonly onMessage: (message: string) => void;
}

/** Works while it leads, until `stop`. Gives the reason if it cannot start. */
export async function runController(
  options: ControllerOptions,
  stop: AbortSignal,
  { onStart, onMessage }: ControllerListener,
): Promise<Explanation | undefined> {
  const access = await openAccess(options.kubeconfig);
  if (!access.ok) return access.failure;
  const contact = new ApiContact(openKubeClient(access.value, { version: options.version }));
  try {
    const controller = new Controller(options, contact, stop, withoutRepeats(onMessage));
    await controller.run(onStart);
    return undefined;
  } catch (error) {
    const failure = listenFailure('the controller', error);
    if (!failure) throw error;
    return failure;
  } finally {
    contact.client.close();
  }
}

class Controller {
  readonly #options: ControllerOptions;
  readonly #contact: ApiContact;
  readonly #stop: AbortSignal;
  readonly #onMessage: (message: string) => void;
  readonly #lease: Lease;
  /** Has the informers, while this process leads. */
  #context: ControllerContext | undefined;

  constructor(
    options: ControllerOptions,
    contact: ApiContact,
    stop: AbortSignal,
    onMessage: (message: string) => void,
  ) {
    this.#options = options;
    this.#contact = contact;
    this.#stop = stop;
    this.#onMessage = onMessage;
    this.#lease = new Lease(contact.client, {
      namespace: options.namespace,
      name: CONTROLLER_LEASE,
      holder: options.identity,
      durationSeconds: LEAD_SECONDS,
    });
  }

  async run(onStart: ControllerListener['onStart']): Promise<void> {
    const { host, port } = this.#options;
    const server = await startServer({
      host,
      port,
      handler: async ({ path }) => {
        const answer = probeAnswer(path, {
          notReadyReason: () => this.#notReadyReason(),
          metrics: () => this.#metricsText(),
        });
        if (answer) return answer;
        throw new StatusError('NotFound', `/${path.join('/')} not found: use ${PROBE_PATHS}`);
      },
      onAnswer: () => {},
      onDefect: (error) =>
        this.#onMessage(`defect in kubediag, please report it: ${messageOf(error)}`),
    });
    onStart({ url: urlOf(server) });
    await lead(this.#lease, {
      stop: this.#stop,
      onError: (message) => this.#onMessage(`Lease ${CONTROLLER_LEASE}: ${message}`),
      work: (stop) => this.#work(stop),
    });
    await server.close();
  }

  /** While this process leads. */
  async #work(stop: AbortSignal): Promise<void> {
    this.#onMessage('became leader');
    const { client } = this.#contact;
    const { namespace, identity, builtIns, times } = this.#options;
    const writing = writingWhile(() => this.#lease.isHeld && !stop.aborted, client);
    const context: ControllerContext = {
      client: writing,
      store: kubeStore(writing),
      namespace,
      builtIns,
      events: new EventRecorder(writing, { controller: CONTROLLER_REPORTER, instance: identity }),
      metrics: new Map(),
      diagnoses: new Informer({
        digest: (object, before) => diagnosisDigest(object, before),
        indexes: { parent: ({ parentUid }) => parentUid },
      }),
      nodes: new Informer({ digest: nodeDigest }),
      leases: new Informer({ digest: leaseDigest }),
      stop,
      now: () => new Date(),
      onMessage: this.#onMessage,
      queues: new Map(),
      collections: new Map(),
      ...times,
    };
    this.#context = context;
    const leases = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
    const diagnoses = `/apis/${API_VERSION}/${KIND_NAMES.Diagnosis.plural}`;
    const informing = [
      followCollectionAt(diagnoses, context.diagnoses, context),
      followCollectionAt('/api/v1/nodes', context.nodes, context),
      followCollectionAt(leases, context.leases, context),
    ];
    const synced = [context.diagnoses.synced, context.nodes.synced, context.leases.synced];
    await Promise.all(synced);
    const working = stop.aborted ? [] : PARTS.map((part) => part(context));
    await Promise.all([...informing, ...working]);
    this.#context = undefined;
    this.#onMessage('stopped leading');
  }

  #notReadyReason(): string | undefined {
    if (this.#stop.aborted) return 'the controller is shutting down';
    const silence = this.#contact.silence(API_SILENT_MS);
    if (silence !== undefined) return `API server: ${silence}`;
    return unsyncedReason(this.#context?.collections ?? new Map(), performance.now());
  }

  #metricsText(): string {
    const { diagnoses, metrics, queues = new Map() } = this.#context ?? {};
    const phases = new Map<string, number>();
    for (const [, { phase }] of diagnoses?.entries() ?? []) {
      const name = phase === '' ? 'New' : phase;
      phases.set(name, (phases.get(name) ?? 0) + 1);
    }
    const lengths = new Map([...queues].map(([part, { size }]) => [part, size]));
    const { requests, failures } = this.#contact;
    return metricsText([
      gauge(
        'kubediag_leader',
        'Whether this process leads.',
        Number(this.#lease.isHeld && this.#context !== undefined),
      ),
      gauge(
        'kubediag_diagnoses',
        'Diagnoses of the cluster by phase; only the leader counts them.',
        samplesOf(phases, 'phase'),
      ),
      gauge(
        'kubediag_queue_length',
        'Objects that a part of the controller works on, or waits to work on.',
        samplesOf(lengths, 'part'),
      ),
      counter(
        'kubediag_api_requests_total',
        'Requests to the API server, and watches.',
        samplesOf(requests, 'verb'),
      ),
      counter(
        'kubediag_api_failures_total',
        'Requests that the API server refused or did not answer.',
        samplesOf(failures, 'reason'),
      ),
      ...(metrics?.values() ?? []),
    ]);
  }
}

function samplesOf(values: ReadonlyMap<string, number>, label: string): readonly Sample[] {
  return [...values].map(([name, value]) => ({ labels: { [label]: name }, value }));
}
