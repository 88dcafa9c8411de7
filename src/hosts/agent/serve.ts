import { rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { takeNodeLock } from '../../lib/state/node-lock.ts';
import { openOutput } from '../../lib/state/output-folder.ts';
import { prepareFolder, tried } from '../../lib/state/state-folder.ts';
import { thisProcess } from '../../lib/state/this-process.ts';
import type { DiskAdvice } from '../../lib/std/disk-advice.ts';
import type { Failure } from '../../node/model/action.ts';
import { storeCatalogue } from '../../pipeline/diagnosis/catalogue.ts';
import type { Runner } from '../../pipeline/diagnosis/runner.ts';
import { Semaphore } from '../../pipeline/diagnosis/semaphore.ts';
import { withoutEffect } from '../../pipeline/operations/without-effect.ts';
import { StoreFileError } from '../../pipeline/store/sqlite-file.ts';
import { openSqliteStore, type SqliteStore } from '../../pipeline/store/sqlite-store.ts';
import { nodeNameOf } from '../local-node/node-name.ts';
import type { ManagedNode } from '../local-node/open-repair.ts';
import { VERSION } from '../local-node/product-version.ts';
import type { StepListener } from '../local-node/step-host.ts';
import { SOCKET_PATH_BYTES_MAX } from '../web/limits.ts';
import { routes } from '../web/routes.ts';
import { startServer } from '../web/server.ts';
import { settleSets } from '../web/settle-sets.ts';
import { StatusError } from '../web/status-error.ts';
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
  /** When it is not that of the kubelet. */
  readonly nodeName?: string | undefined;
  /** For so long, an alert that is sent again is the same matter. */
  readonly repeatMs: number;
}

export interface ServeListener extends StepListener {
  readonly onStart: (start: ServeStart) => void;
  /** One line on what goes wrong while it stands. */
  readonly onError: (words: string) => void;
}

export interface ServeStart {
  readonly url: string;
  readonly nodeName: string;
  /** No kubelet has said it, so it is that of the host. */
  readonly isGuessed: boolean;
  readonly tokenFile: string;
  /** Only when it was made just now. */
  readonly newToken?: string;
}

/** Stands until it is told to stop. What it gives back is why it could not. */
export async function serve(
  options: AgentServeOptions,
  stop: AbortSignal,
  listener: ServeListener,
): Promise<Failure | undefined> {
  const { stateFolder } = options.node;
  if (Buffer.byteLength(socketIn(stateFolder)) > SOCKET_PATH_BYTES_MAX) {
    const why = `its name is too long: that of a socket in it has ${SOCKET_PATH_BYTES_MAX} bytes at most`;
    return unusable(stateFolder, { why, todo: 'choose another --state-dir' });
  }
  const prepared = await tried(prepareFolders(stateFolder));
  if (!prepared.ok) return unusable(stateFolder, prepared);
  const lock = await tried(takeNodeLock(join(stateFolder, 'serve'), thisProcess(), OTHER));
  if (!lock.ok) return unusable(stateFolder, lock);
  if (!lock.value.isTaken) return lock.value;
  // That of an agent that was killed: nobody listens there any more, as the lock says.
  const tokens = await tried(
    (async () => {
      rmSync(socketIn(stateFolder), { force: true });
      return ownTokens(stateFolder);
    })(),
  );
  const opened = tokens.ok ? await storeIn(stateFolder, listener) : unusable(stateFolder, tokens);
  const failure =
    tokens.ok && 'store' in opened
      ? await stand(options, { ...tokens.value, store: opened.store }, stop, listener)
      : (opened as Failure);
  lock.value.lock.release();
  return failure;
}

/** Each is for root alone: what we write there must not be led elsewhere. */
async function prepareFolders(stateFolder: string): Promise<void> {
  for (const folder of [stateFolder, join(stateFolder, 'results')]) await prepareFolder(folder);
}

/** Where the commands of this node find us. Nobody else can put one there. */
function socketIn(stateFolder: string): string {
  return join(stateFolder, 'socket');
}

const OTHER = {
  who: 'another `kubediag serve`',
  does: 'has this folder',
  todo: 'use that one, end it, or choose another --state-dir',
};

function unusable(stateFolder: string, { why, todo }: DiskAdvice): Failure {
  return { what: `our folder ${stateFolder} cannot be used`, why, todo };
}

async function storeIn(
  folder: string,
  { onError }: ServeListener,
): Promise<{ readonly store: SqliteStore } | Failure> {
  try {
    return { store: await openSqliteStore(join(folder, 'store.sqlite'), { onError }) };
  } catch (error) {
    if (!(error instanceof StoreFileError)) throw error;
    const [why = '', ...advice] = error.message.split('; ');
    const todo = advice.join('; ') || 'see to that file';
    return { what: 'the store cannot be opened', why, todo };
  }
}

interface Own extends OwnTokens {
  readonly store: SqliteStore;
}

async function stand(
  options: AgentServeOptions,
  { store, token, intakeToken, isNew }: Own,
  stop: AbortSignal,
  listener: ServeListener,
): Promise<Failure | undefined> {
  const { node, host, port } = options;
  const standing = new Standing(options.nodeName ?? hostname().toLowerCase());
  const catalogue = storeCatalogue(
    store,
    (address, at) => at === standing.port && isCalledBy(address, host, standing.nodeName),
  );
  const { numbers } = standing;
  const repairing = new Semaphore(1);
  await settleSets(store);
  const started = await tried(
    startServer({
      host,
      port,
      socketPath: socketIn(node.stateFolder),
      access: { token, intakeToken, ownNames: ownNames(host, standing.nodeName) },
      handler: routes({
        store,
        watches: new OpenWatches(),
        checkHere: withoutEffect,
        adviceOn: adviceFor(catalogue, () => standing.nodeName),
        ...processorBackend(node, listener, repairing),
        openStored: (path) => openOutput(node.stateFolder, path),
        takeIn: async (events) => standing.intake.takeIn(events),
        productVersion: VERSION,
        metrics: () => numbers.text(store, standing.counts),
        notReadyReason: async () =>
          stop.aborted ? 'it is being ended' : (standing.notReadyReason ?? store.writeError()),
      }),
      onAnswer: (code, tookMs) => numbers.answered(code, tookMs),
      onDefect: (error) => listener.onError(defectText(error)),
    }),
  );
  if (!started.ok) {
    store.close();
    const todo = 'choose another address with --listen, or end whoever has this one';
    return { what: `nothing can listen on ${host}:${port}`, why: started.why, todo };
  }
  const server = started.value;
  const url = urlOf(server);
  standing.port = server.port;
  const reported = options.nodeName ?? (await nodeNameOf(node, NAME_MS));
  standing.nodeName = reported ?? standing.nodeName;
  const own = { store, catalogue, node, nodeName: () => standing.nodeName, numbers, repairing };
  const onTaken = numbers.taken.bind(numbers);
  standing.intake = new Intake({ store, here: standing, repeatMs: options.repeatMs, onTaken });
  standing.runner = runnerHere({ ...own, shutdown: stop, listener });
  const running = standing.runner.run();
  const tokenFile = join(node.stateFolder, 'token');
  const { nodeName } = standing;
  const isGuessed = reported === undefined;
  listener.onStart({ url, nodeName, isGuessed, tokenFile, ...(isNew ? { newToken: token } : {}) });
  if (isGuessed) void standing.learnFrom(() => nodeNameOf(node, NAME_MS), stop, listener);
  try {
    // It ends with the last step that it had begun.
    await running;
  } finally {
    // A server that answers while its runner is dead looks healthy.
    await server.close();
    store.close();
  }
  return undefined;
}

/** What is known of the agent while it is being started, and after. */
class Standing {
  readonly numbers = new AgentMetrics();
  /** What is guessed first, until the kubelet has said it. */
  nodeName: string;
  /** Where it listens, once it does. */
  port: number | undefined;
  readonly otherNames = namesOfNode();
  runner: Runner | undefined;
  #intake: Intake | undefined;

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
    onError(`the kubelet calls this node ${reported}, not ${this.nodeName}; so do we from now on`);
    this.nodeName = reported;
  }

  get counts(): Runner['counts'] {
    return this.runner?.counts ?? { inFlight: 0, queued: 0, waiting: 0 };
  }

  /** Only once it is known which node this is. */
  get intake(): Intake {
    if (this.#intake) return this.#intake;
    throw new StatusError('ServiceUnavailable', 'it is being started: send it again in a moment');
  }

  set intake(intake: Intake) {
    this.#intake = intake;
  }

  get notReadyReason(): string | undefined {
    return this.runner ? undefined : 'it is being started';
  }
}

// http://127.0.0.1:8090, http://[::1]:8090
function urlOf({ host, port }: { readonly host: string; readonly port: number }): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function defectText(error: unknown): string {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `this is a defect of kubediag, please report it: ${stack}`;
}
