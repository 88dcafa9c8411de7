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
import { storeLookup } from '../../pipeline/diagnosis/operation-lookup.ts';
import type { Runner } from '../../pipeline/diagnosis/runner.ts';
import { withoutEffect } from '../../pipeline/operations/without-effect.ts';
import { settleOperationSets } from '../../pipeline/store/operation-set-status.ts';
import { StoreFileError } from '../../pipeline/store/sqlite-file.ts';
import { openSqliteStore, type SqliteStore } from '../../pipeline/store/sqlite-store.ts';
import { nodeNameOf } from '../local-node/open-live-node.ts';
import type { ManagedNode } from '../local-node/open-repair.ts';
import { VERSION } from '../local-node/product-version.ts';
import type { StepListener } from '../local-node/step-host.ts';
import { SOCKET_PATH_BYTES_MAX } from '../web/limits.ts';
import { routes } from '../web/routes.ts';
import { startServer } from '../web/server.ts';
import { OpenWatches } from '../web/watch-resources.ts';
import { adviceFor } from './advice.ts';
import { AgentMetrics } from './agent-metrics.ts';
import { Intake } from './intake.ts';
import { learnName } from './learn-name.ts';
import { NAME_AGAIN_MS, NAME_MS } from './limits.ts';
import { isCalledBy, namesOfNode, ownNames } from './own-names.ts';
import { processorBackend } from './processors.ts';
import { runnerHere } from './runner.ts';
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
    return await run(options, { ...tokens.value, ...opened }, stop, listener);
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

async function run(
  options: AgentServeOptions,
  { store, token, intakeToken, isNew }: OwnTokens & { readonly store: SqliteStore },
  stop: AbortSignal,
  listener: ServeListener,
): Promise<Failure | undefined> {
  const { node, host, port } = options;
  const agent = new AgentState(options.nodeName ?? hostname().toLowerCase());
  const lookup = storeLookup(
    store,
    (address, at) => at === agent.port && isCalledBy(address, host, agent.nodeName),
  );
  const { metrics } = agent;
  const repairing = new Semaphore(1);
  await settleOperationSets(store);
  const started = await tried(
    startServer({
      host,
      port,
      socketPath: socketIn(node.stateFolder),
      access: { token, intakeToken, ownNames: ownNames(host, agent.nodeName) },
      handler: routes({
        store,
        watches: new OpenWatches(),
        checkHere: withoutEffect,
        adviceOn: adviceFor(lookup, () => agent.nodeName),
        ...processorBackend(node, listener, repairing),
        openStored: (path) => openOutput(node.stateFolder, path),
        takeIn: async (events) => agent.intake?.takeIn(events) ?? { unavailable: STARTING },
        productVersion: VERSION,
        metrics: () => metrics.text(store, agent.counts),
        notReadyReason: async () =>
          stop.aborted
            ? 'the agent is shutting down'
            : (agent.notReadyReason ?? store.writeError()),
      }),
      onAnswer: (code, tookMs) => metrics.answered(code, tookMs),
      onDefect: (error) => listener.onError(defectText(error)),
    }),
  );
  if (!started.ok) {
    store.close();
    const todo = 'choose another address with --listen, or stop the process that uses this one';
    return { what: `cannot listen on ${host}:${port}`, why: started.why, todo };
  }
  const server = started.value;
  const url = urlOf(server);
  agent.port = server.port;
  const reported = options.nodeName ?? (await nodeNameOf(node, NAME_MS));
  agent.nodeName = reported ?? agent.nodeName;
  const own = { store, lookup, node, nodeName: () => agent.nodeName, metrics, repairing };
  const onTaken = metrics.taken.bind(metrics);
  agent.intake = new Intake({ store, here: agent, repeatMs: options.repeatMs, onTaken });
  agent.runner = runnerHere({ ...own, shutdown: stop, listener });
  const running = agent.runner.run();
  const tokenFile = join(node.stateFolder, 'token');
  const { nodeName } = agent;
  const isGuessed = reported === undefined;
  listener.onStart({ url, nodeName, isGuessed, tokenFile, ...(isNew ? { newToken: token } : {}) });
  if (isGuessed) void agent.learnFrom(() => nodeNameOf(node, NAME_MS), stop, listener);
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

/** What becomes known while the agent starts. */
class AgentState {
  readonly metrics = new AgentMetrics();
  /** The host name until the kubelet has reported one. */
  nodeName: string;
  port: number | undefined;
  readonly otherNames = namesOfNode();
  runner: Runner | undefined;
  /** Once the name of this node is known. */
  intake: Intake | undefined;

  constructor(nodeName: string) {
    this.nodeName = nodeName;
  }

  async learnFrom(
    ask: () => Promise<string | undefined>,
    stop: AbortSignal,
    { onError }: ServeListener,
  ): Promise<void> {
    const reported = await learnName(ask, NAME_AGAIN_MS, stop);
    if (reported === undefined || reported === this.nodeName) return;
    onError(`node name is now ${reported}, as the kubelet reports it, instead of ${this.nodeName}`);
    this.nodeName = reported;
  }

  get counts(): Runner['counts'] {
    return this.runner?.counts ?? { inFlight: 0, queued: 0, waiting: 0 };
  }

  get notReadyReason(): string | undefined {
    return this.runner ? undefined : STARTING;
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
