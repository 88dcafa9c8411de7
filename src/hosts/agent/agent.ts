import type { Explanation } from '../../lib/std/explanation.ts';
import { isLoopback } from '../../lib/std/is-loopback.ts';
import { textAt } from '../../lib/std/json.ts';
import { messageOf } from '../../lib/std/message-of.ts';
import { withoutRepeats } from '../../lib/std/without-repeats.ts';
import type { DiagnosisSpec } from '../../pipeline/api/diagnosis.ts';
import type { Executor, ReadFile, SettledJournal } from '../../pipeline/channel/executor.ts';
import {
  type ListeningExecutor,
  listenForExecutor,
} from '../../pipeline/channel/listen-for-executor.ts';
import { type SeenBuiltIns, storeLookup } from '../../pipeline/diagnosis/operation-lookup.ts';
import { Runner } from '../../pipeline/diagnosis/runner.ts';
import { ApiContact } from '../../pipeline/kube/api-contact.ts';
import { openKubeClient } from '../../pipeline/kube/kube-client.ts';
import { kubeStore } from '../../pipeline/kube/kube-store.ts';
import { keepLease, Lease } from '../../pipeline/kube/lease.ts';
import { nodeAsOwner } from '../../pipeline/kube/objects.ts';
import { withoutSelectableFields } from '../../pipeline/kube/older-server.ts';
import { openAccess } from '../../pipeline/kube/open-access.ts';
import { sleepUntilStopped } from '../../pipeline/store/sleep-until-stopped.ts';
import type { StoredObject } from '../../pipeline/store/store.ts';
import { counter, gauge, metricsText } from '../web/metrics.ts';
import { RunMetrics } from '../web/run-metrics.ts';
import { listenFailure, startServer, urlOf } from '../web/server.ts';
import { StatusError } from '../web/status-error.ts';
import { agentRoutes } from './agent-routes.ts';
import { agentSteps } from './agent-steps.ts';
import { ApiPods } from './api-pods.ts';
import { largeAnswers } from './large-answers.ts';
import { leavingToController } from './leaving-to-controller.ts';
import {
  API_SILENT_MS,
  EXECUTOR_ABSENT_MS,
  EXECUTOR_SILENT_MS,
  EXECUTOR_START_MS,
  IN_FLIGHT_MAX,
  LEASE_RENEW_MS,
  LEASE_SECONDS,
  SETTLE_MS,
} from './limits.ts';
import type { NodePublisher } from './node-status/node-publisher.ts';
import { publishNodeStatus } from './node-status/node-status.ts';
import { RecoverySlots } from './recovery/recovery-slots.ts';
import { repairSteps } from './recovery/repair-steps.ts';
import { ResultKeys } from './result-keys.ts';

export interface AgentOptions {
  readonly nodeName: string;
  /** Where the executor connects. */
  readonly socketPath: string;
  /** Empty: every address, of IPv4 and of IPv6. */
  readonly host: string;
  readonly port: number;
  /** Absent: the account of the pod. */
  readonly kubeconfig?: string | undefined;
  /** The pod of this agent, for the Lease and for clients that fetch results. */
  readonly pod: { readonly namespace: string; readonly name: string | undefined };
  readonly version: string;
}

export interface AgentListener {
  readonly onStart: (start: { readonly url: string }) => void;
  /** Called with one line for each change and each error. */
  readonly onMessage: (message: string) => void;
}

/** Runs the Diagnoses of a node until `stop`. Gives the reason if it cannot start. */
export async function runAgent(
  options: AgentOptions,
  stop: AbortSignal,
  { onStart, onMessage }: AgentListener,
): Promise<Explanation | undefined> {
  const listener = { onStart, onMessage: withoutRepeats(onMessage) };
  const { nodeName, socketPath, version } = options;
  const access = await openAccess(options.kubeconfig);
  if (!access.ok) return access.failure;
  const contact = new ApiContact(openKubeClient(access.value, { version }));
  try {
    const status = publishNodeStatus({
      client: contact.client,
      nodeName,
      onError: (message) => listener.onMessage(`node status: ${message}`),
      stop,
    });
    let agent: Agent | undefined;
    const executor = await listenForExecutor({
      socketPath,
      nodeName,
      onNodeCheck: (check) => status.take(check),
      onExecutor: (change) => {
        const isThere = change.state === 'connected';
        const what = isThere ? `connected, version ${change.version}` : `gone: ${change.why}`;
        listener.onMessage(`executor: ${what}`);
        if (isThere) agent?.executorConnected();
      },
    });
    agent = new Agent(options, contact, { executor, status }, stop, listener);
    await agent.run();
    return undefined;
  } catch (error) {
    const failure = listenFailure('the agent', error);
    if (!failure) throw error;
    return failure;
  } finally {
    contact.client.close();
  }
}

class Agent {
  readonly #options: AgentOptions;
  readonly #contact: ApiContact;
  readonly #executor: ListeningExecutor;
  readonly #status: NodePublisher;
  readonly #stop: AbortSignal;
  readonly #listener: AgentListener;
  readonly #metrics = new RunMetrics();
  readonly #keys = new ResultKeys();
  readonly #slots: RecoverySlots;
  readonly #runner: Runner;
  #port: number;

  constructor(
    options: AgentOptions,
    contact: ApiContact,
    { executor, status }: { readonly executor: ListeningExecutor; readonly status: NodePublisher },
    stop: AbortSignal,
    listener: AgentListener,
  ) {
    this.#options = options;
    this.#contact = contact;
    this.#executor = executor;
    this.#status = status;
    this.#stop = stop;
    this.#listener = listener;
    this.#port = options.port;
    this.#slots = new RecoverySlots({
      client: contact.client,
      namespace: options.pod.namespace,
      nodeName: options.nodeName,
      settle: () => this.#settled(),
      onMessage: (message) => listener.onMessage(message),
      onTurnEnd: () => this.#runner.wakeWaiting(),
      stop,
    });
    this.#runner = this.#runnerHere();
  }

  async run(): Promise<void> {
    const { host, port, nodeName, pod } = this.#options;
    const lease = new Lease(this.#contact.client, {
      namespace: pod.namespace,
      name: nodeName,
      // Not the pod: the next one on this node takes over at once.
      holder: nodeName,
      durationSeconds: LEASE_SECONDS,
      owner: () => nodeAsOwner(this.#contact.client, nodeName),
    });
    try {
      const server = await startServer({
        host,
        port,
        handler: agentRoutes({
          notReadyReason: () => this.#notReadyReason(),
          metrics: () => this.#metricsText(),
          resultKeys: this.#keys,
          readFile: (path) => this.#readFile(path),
        }),
        onAnswer: (code, tookMs) => this.#metrics.answered(code, tookMs),
        onDefect: (error) =>
          this.#listener.onMessage(`defect in kubediag, please report it: ${messageOf(error)}`),
      });
      this.#port = server.port;
      this.#listener.onStart({ url: urlOf(server) });
      const onError = (message: string) =>
        this.#listener.onMessage(`Lease ${nodeName}: ${message}`);
      const keeping = keepLease(lease, { intervalMs: LEASE_RENEW_MS, stop: this.#stop, onError });
      const publishing = this.#status.run();
      const releasing = this.#slots.run();
      // Ends when the last running step has ended.
      await this.#runner.run();
      await Promise.all([keeping, publishing, releasing]);
      await server.close();
    } finally {
      await this.#executor.close();
    }
  }

  /** A Diagnosis may wait for the built-in Operations of an executor. */
  executorConnected(): void {
    this.#slots.executorConnected();
    this.#runner.wakeWaiting();
  }

  /** Drives the Diagnoses of this node. A controller deletes them and assigns them to nodes. */
  #runnerHere(): Runner {
    const { nodeName } = this.#options;
    const store = withoutSelectableFields(kubeStore(this.#contact.client), (message) =>
      this.#listener.onMessage(message),
    );
    const { runStep, readFile, findPod, repairs } = this.#executor;
    const largeResults = withoutWaiting(this.#executor.largeResults, this.#stop);
    const takeAnswer = largeAnswers(largeResults);
    const steps = agentSteps({ runOnNode: runStep, readFile, takeAnswer });
    const earlierActionsFor: Executor['earlierActionsFor'] = async (purpose) => {
      const answer = inTime(this.#executor.earlierActionsFor(purpose), EXECUTOR_SILENT_MS);
      return (await answer) ?? { isKnown: false, why: this.#silentExecutor() };
    };
    const pods = new ApiPods(this.#contact.client, nodeName);
    return new Runner({
      store,
      selection: { fieldSelector: `spec.nodeName=${nodeName}` },
      lookup: storeLookup(store, () => this.#builtIns(), {
        isWatched: true,
        isHere: (address, port) => port === this.#port && isLoopback(address),
      }),
      largeResults: {
        ...largeResults,
        retain: (uids) => {
          this.#keys.retain(uids);
          return largeResults.retain(uids);
        },
      },
      inFlightMax: IN_FLIGHT_MAX,
      howToFetch: (uid, { file, accessKey = '' }) => this.#howToFetch(uid, file, accessKey),
      targetOf: (spec: DiagnosisSpec) =>
        spec.nodeName === nodeName ? { state: 'here', nodeName } : { state: 'elsewhere' },
      runStep: leavingToController(
        repairSteps(this.#metrics.timed(pods.collecting(steps, takeAnswer)), {
          slots: this.#slots,
          repairs: () => inTime(repairs(), EXECUTOR_START_MS, this.#stop),
          earlierActionsFor,
          shutdown: this.#stop,
        }),
      ),
      findPod: pods.finding(findPod),
      earlierActionsFor,
      shutdown: this.#stop,
      onSeen: (event) => this.#keys.see(event),
      onError: (message) => this.#listener.onMessage(message),
      onEnded: (object) => {
        this.#metrics.ended(object);
        this.#listener.onMessage(endText(object));
      },
    });
  }

  async #settled(): Promise<SettledJournal> {
    const answer = inTime(this.#executor.settleJournal(), SETTLE_MS, this.#stop);
    return (await answer) ?? { isSettled: false, why: this.#silentExecutor() };
  }

  #silentExecutor(): string {
    return `the executor of node ${this.#options.nodeName} does not answer`;
  }

  /** Those of the last executor; before the first one connects nobody knows them. */
  async #builtIns(): Promise<SeenBuiltIns> {
    const known = await inTime(this.#executor.builtIns(), EXECUTOR_START_MS, this.#stop);
    return known ?? { unknown: `the executor of node ${this.#options.nodeName} is not connected` };
  }

  #howToFetch(uid: string, file: string, accessKey: string): string {
    const { pod, nodeName } = this.#options;
    const path = `results/${uid}/${file}?key=${accessKey}`;
    const agent = `the agent on node ${nodeName}`;
    if (pod.name === undefined) return `${agent} serves it at /${path}`;
    const proxy = `/api/v1/namespaces/${pod.namespace}/pods/${pod.name}:${this.#port}/proxy`;
    const later = 'a later agent pod of this node serves it too';
    return `fetch it from ${agent} with: kubectl get --raw '${proxy}/${path}'; ${later}`;
  }

  async #readFile(path: string): Promise<ReadFile | undefined> {
    if (this.#executor.isConnected()) return this.#executor.readFile(path);
    const { nodeName } = this.#options;
    throw new StatusError(
      'ServiceUnavailable',
      `the executor of node ${nodeName} is not connected: try again in a moment`,
    );
  }

  #notReadyReason(): string | undefined {
    if (this.#stop.aborted) return 'the agent is shutting down';
    const silence = this.#contact.silence(API_SILENT_MS);
    const missing = [
      ...(silence === undefined ? [] : [`API server: ${silence}`]),
      ...(this.#executor.isConnected() ? [] : ['executor: not connected']),
    ];
    return missing.length === 0 ? undefined : missing.join('\n');
  }

  #metricsText(): string {
    const requests = [...this.#contact.requests].map(([verb, value]) => ({
      labels: { verb },
      value,
    }));
    const isConnected = Number(this.#executor.isConnected());
    return metricsText([
      ...this.#metrics.metrics(this.#runner.counts),
      counter('kubediag_api_requests_total', 'Requests to the API server, and watches.', requests),
      gauge('kubediag_executor_connected', 'Whether the executor is connected.', isConnected),
      ...this.#status.metrics.all(),
    ]);
  }
}

/** Undefined if the executor does not answer within this time, or before `stop`. */
async function inTime<T>(
  answer: Promise<T>,
  limitMs: number,
  stop?: AbortSignal,
): Promise<T | undefined> {
  const waiting = new AbortController();
  const ending = AbortSignal.any(stop ? [waiting.signal, stop] : [waiting.signal]);
  const late = sleepUntilStopped(limitMs, ending, { ref: false });
  try {
    return await Promise.race([answer, late.then(() => undefined)]);
  } finally {
    // A timer that goes on would keep everything in memory that waits here, such as a large result.
    waiting.abort();
  }
}

/**
 * The runner does not wait for removals while the executor is away. Nothing is stored before them, so
 * that they remove nothing new.
 */
function withoutWaiting(
  results: Executor['largeResults'],
  stop: AbortSignal,
): Executor['largeResults'] {
  let retained: Promise<unknown> = Promise.resolve();
  return {
    ...results,
    remove: async (uid) => void results.remove(uid),
    retain: async (uids) => {
      retained = Promise.all([retained, results.retain(uids)]);
    },
    store: async (uid, file, text) => {
      const isDone = retained.then(() => true);
      const isRetained = await inTime(isDone, EXECUTOR_ABSENT_MS, stop);
      if (isRetained) return results.store(uid, file, text);
      return {
        ok: false,
        why: 'the executor has not yet removed the results of deleted Diagnoses',
      };
    },
  };
}

// Diagnosis default/web: Succeeded, Repaired
function endText({ metadata: { namespace, name }, status }: StoredObject): string {
  const end = [textAt(status, 'phase'), textAt(status, 'result')].filter((each) => each);
  return `Diagnosis ${namespace}/${name}: ${end.join(', ')}`;
}
