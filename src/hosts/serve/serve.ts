import { rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { takeNodeLock } from '../../lib/state/node-lock.ts';
import { openOutput } from '../../lib/state/output-folder.ts';
import { prepareFolder, tried } from '../../lib/state/state-folder.ts';
import { thisProcess } from '../../lib/state/this-process.ts';
import type { DiskAdvice } from '../../lib/std/disk-advice.ts';
import { Semaphore } from '../../lib/std/semaphore.ts';
import type { Failure } from '../../node/model/action.ts';
import { assignIn } from '../../pipeline/diagnosis/assign.ts';
import { largeResultsIn } from '../../pipeline/diagnosis/large-results.ts';
import { type OperationLookup, storeLookup } from '../../pipeline/diagnosis/operation-lookup.ts';
import { Runner } from '../../pipeline/diagnosis/runner.ts';
import { targetOfOnlyNode } from '../../pipeline/diagnosis/target.ts';
import { withLargeResults } from '../../pipeline/diagnosis/with-large-results.ts';
import { builtIns } from '../../pipeline/operations/catalogue.ts';
import { READING_STEPS_MAX } from '../../pipeline/operations/limits.ts';
import { earlierRecords, podLookup, stepsOn } from '../../pipeline/operations/run-step.ts';
import { withoutEffect } from '../../pipeline/operations/without-effect.ts';
import { settleOperationSets } from '../../pipeline/store/operation-set-status.ts';
import { StoreFileError } from '../../pipeline/store/sqlite-file.ts';
import { openSqliteStore, type SqliteStore } from '../../pipeline/store/sqlite-store.ts';
import { nodeNameOf } from '../local-node/open-live-node.ts';
import type { ManagedNode } from '../local-node/open-repair.ts';
import { VERSION } from '../local-node/product-version.ts';
import { type StepListener, stepHosts } from '../local-node/step-host.ts';
import { SOCKET_PATH_BYTES_MAX } from '../web/limits.ts';
import { type Backends, routes } from '../web/routes.ts';
import { startServer } from '../web/server.ts';
import { OpenWatches } from '../web/watch-resources.ts';
import { adviceFor } from './advice.ts';
import { AgentMetrics } from './agent-metrics.ts';
import { Intake } from './intake.ts';
import { learnName } from './learn-name.ts';
import { NAME_AGAIN_MS, NAME_MS } from './limits.ts';
import { isCalledBy, namesOfNode, ownNames } from './own-names.ts';
import { processorBackend } from './processors.ts';
import { type OwnTokens, ownTokens } from './token.ts';

export interface AgentServeOptions {
  readonly host: string;
  readonly port: number;
  readonly node: ManagedNode;
  /** Absent: the name that the kubelet reports. */
  readonly nodeName?: string | undefined;
  /** How long repeats of an alert are ignored. */
  readonly repeatMs: number;
}

export interface ServeListener extends StepListener {
  readonly onStart: (start: ServeStart) => void;
  /** Called with one line for each error. */
  readonly onError: (message: string) => void;
}

export interface ServeStart {
  readonly url: string;
  readonly nodeName: string;
  /** No kubelet has reported the name, so it is the host name. */
  readonly isGuessed: boolean;
  readonly tokenFile: string;
  /** Only at the first start. */
  readonly newToken?: string;
}

/** Runs the agent until `stop`. Gives the reason if it cannot start. */
export async function serve(
  options: AgentServeOptions,
  stop: AbortSignal,
  listener: ServeListener,
): Promise<Failure | undefined> {
  const { stateFolder } = options.node;
  if (Buffer.byteLength(socketIn(stateFolder)) > SOCKET_PATH_BYTES_MAX) {
    const why = `the path of a socket in it would exceed ${SOCKET_PATH_BYTES_MAX} bytes`;
    return unusable(stateFolder, { why, todo: 'choose another --state-dir' });
  }
  const prepared = await tried(prepareFolders(stateFolder));
  if (!prepared.ok) return unusable(stateFolder, prepared);
  const lock = await tried(takeNodeLock(join(stateFolder, 'serve'), thisProcess(), OTHER));
  if (!lock.ok) return unusable(stateFolder, lock);
  if (!lock.value.isTaken) return lock.value;
  try {
    const tokens = await tried(tokensIn(stateFolder));
    if (!tokens.ok) return unusable(stateFolder, tokens);
    const opened = await storeIn(stateFolder, listener);
    if (!('store' in opened)) return opened;
    return await new Agent(options, opened.store, stop, listener).run(tokens.value);
  } finally {
    lock.value.lock.release();
  }
}

/** The lock says that no agent listens on a socket that a killed one left. */
async function tokensIn(stateFolder: string): Promise<OwnTokens> {
  rmSync(socketIn(stateFolder), { force: true });
  return ownTokens(stateFolder);
}

/** Only root may write there: nobody else can redirect our files. */
async function prepareFolders(stateFolder: string): Promise<void> {
  for (const folder of [stateFolder, join(stateFolder, 'results')]) await prepareFolder(folder);
}

/** Where the commands on this node find the agent. */
function socketIn(stateFolder: string): string {
  return join(stateFolder, 'socket');
}

const OTHER = {
  who: 'another `kubediag serve`',
  does: 'uses this directory',
  todo: 'use that one, stop it, or choose another --state-dir',
};

function unusable(stateFolder: string, { why, todo }: DiskAdvice): Failure {
  return { what: `state directory ${stateFolder} cannot be used`, why, todo };
}

async function storeIn(
  folder: string,
  { onError }: ServeListener,
): Promise<{ readonly store: SqliteStore } | Failure> {
  try {
    return { store: await openSqliteStore(join(folder, 'store.sqlite'), { onError }) };
  } catch (error) {
    if (!(error instanceof StoreFileError)) throw error;
    return { what: 'the store cannot be opened', why: error.why, todo: error.todo };
  }
}

/** The agent with its store. Its name and its port become known while it starts. */
class Agent {
  readonly #options: AgentServeOptions;
  readonly #store: SqliteStore;
  readonly #stop: AbortSignal;
  readonly #listener: ServeListener;
  readonly #lookup: OperationLookup;
  readonly #metrics = new AgentMetrics();
  /** Shared by all that repairs this node. */
  readonly #repairing = new Semaphore(1);
  /** The host name until the kubelet has reported one. */
  nodeName: string;
  readonly otherNames = namesOfNode();
  #port: number | undefined;
  #runner: Runner | undefined;
  /** Once the name of this node is known. */
  #intake: Intake | undefined;

  constructor(
    options: AgentServeOptions,
    store: SqliteStore,
    stop: AbortSignal,
    listener: ServeListener,
  ) {
    this.#options = options;
    this.#store = store;
    this.#stop = stop;
    this.#listener = listener;
    this.nodeName = options.nodeName ?? hostname().toLowerCase();
    this.#lookup = storeLookup(store, async () => builtIns, {
      isHere: (address, port) =>
        port === this.#port && isCalledBy(address, options.host, this.nodeName),
    });
  }

  async run({ token, intakeToken, isNew }: OwnTokens): Promise<Failure | undefined> {
    const { node, host, port, repeatMs, nodeName } = this.#options;
    const store = this.#store;
    await settleOperationSets(store);
    const started = await tried(
      startServer({
        host,
        port,
        socketPath: socketIn(node.stateFolder),
        access: { token, intakeToken, ownNames: ownNames(host, this.nodeName) },
        handler: routes(this.#backends()),
        onAnswer: (code, tookMs) => this.#metrics.answered(code, tookMs),
        onDefect: (error) => this.#listener.onError(defectText(error)),
      }),
    );
    if (!started.ok) {
      store.close();
      const todo = 'choose another address with --listen, or stop the process that uses this one';
      return { what: `cannot listen on ${host}:${port}`, why: started.why, todo };
    }
    const server = started.value;
    this.#port = server.port;
    const reported = nodeName ?? (await nodeNameOf(node, NAME_MS));
    this.nodeName = reported ?? this.nodeName;
    const onTaken = this.#metrics.taken.bind(this.#metrics);
    this.#intake = new Intake({ store, here: this, repeatMs, onTaken });
    this.#runner = this.#runnerHere();
    const running = this.#runner.run();
    const isGuessed = reported === undefined;
    this.#listener.onStart({
      url: urlOf(server),
      nodeName: this.nodeName,
      isGuessed,
      tokenFile: join(node.stateFolder, 'token'),
      ...(isNew ? { newToken: token } : {}),
    });
    if (isGuessed) void this.#learnName();
    try {
      // Ends when the last running step has ended.
      await running;
    } finally {
      // A server that answers without its runner would look healthy.
      await server.close();
      store.close();
    }
    return undefined;
  }

  #backends(): Backends {
    const { node } = this.#options;
    return {
      store: this.#store,
      watches: new OpenWatches(),
      checkHere: withoutEffect,
      adviceOn: adviceFor(this.#lookup, () => this.nodeName),
      ...processorBackend(node, this.#listener, this.#repairing),
      openStored: (path) => openOutput(node.stateFolder, path),
      takeIn: async (events) => this.#intake?.takeIn(events) ?? { unavailable: STARTING },
      productVersion: VERSION,
      metrics: () =>
        this.#metrics.text(this.#store, this.#runner?.counts ?? { inFlight: 0, queued: 0 }),
      notReadyReason: async () => {
        if (this.#stop.aborted) return 'the agent is shutting down';
        return this.#runner ? this.#store.writeError() : STARTING;
      },
    };
  }

  /** Drives the Diagnoses of this node's store on this node. */
  #runnerHere(): Runner {
    const { node } = this.#options;
    const [store, shutdown, metrics] = [this.#store, this.#stop, this.#metrics];
    const withHost = stepHosts(node, this.#listener);
    const largeResults = largeResultsIn(join(node.stateFolder, 'results'));
    const [repairing, reading] = [this.#repairing, new Semaphore(READING_STEPS_MAX)];
    const steps = stepsOn({ repairing, reading, withHost, runRecords: largeResults });
    return new Runner({
      store,
      lookup: this.#lookup,
      largeResults,
      targetOf: (spec) => targetOfOnlyNode(spec, this.nodeName),
      assign: assignIn(store),
      deletesExpired: true,
      runStep: metrics.timed(withLargeResults(steps, largeResults)),
      findPod: podLookup(withHost, reading),
      earlierActionsFor: earlierRecords(withHost, shutdown, repairing),
      shutdown,
      onError: this.#listener.onError,
      onEnded: (object) => metrics.ended(object),
    });
  }

  async #learnName(): Promise<void> {
    const ask = () => nodeNameOf(this.#options.node, NAME_MS);
    const reported = await learnName(ask, NAME_AGAIN_MS, this.#stop);
    if (reported === undefined || reported === this.nodeName) return;
    const why = `node name is now ${reported}, as the kubelet reports it`;
    this.#listener.onError(`${why}, instead of ${this.nodeName}`);
    this.nodeName = reported;
  }
}

const STARTING = 'the agent is starting: try again in a moment';

// http://127.0.0.1:8090, http://[::1]:8090
function urlOf({ host, port }: { readonly host: string; readonly port: number }): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function defectText(error: unknown): string {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `defect in kubediag, please report it: ${stack}`;
}
