import { connectRuntime, type RuntimeConnection } from '../../lib/cri/client.ts';
import { RuntimeCallError } from '../../lib/cri/runtime-call-error.ts';
import { type Question, ReadError, type RuntimeAnswer, sourceOf } from '../model/node-reader.ts';
import { SERVICE_MS } from './limits.ts';
import { pathInRoot } from './path-in-root.ts';

/** The reader's connections to container runtimes, by socket. */
export class ReaderRuntimes {
  readonly #hostRoot: string;
  readonly #connections = new Map<string, RuntimeConnection>();

  constructor(hostRoot: string) {
    this.#hostRoot = hostRoot;
  }

  async ask(asked: Question<'runtime'>): Promise<RuntimeAnswer> {
    const runtime = this.#connections.get(asked.socket) ?? this.#connect(asked.socket);
    try {
      return await callOf(runtime, asked);
    } catch (error) {
      if (!(error instanceof RuntimeCallError)) throw error;
      throw new ReadError(error.failure, sourceOf(asked), error.detail);
    }
  }

  close(): void {
    for (const runtime of this.#connections.values()) runtime.close();
  }

  #connect(socket: string): RuntimeConnection {
    const path = pathInRoot(this.#hostRoot, socket, 'follow').toString('utf8');
    const runtime = connectRuntime(path, { limitMs: SERVICE_MS });
    this.#connections.set(socket, runtime);
    return runtime;
  }
}

function callOf(runtime: RuntimeConnection, asked: Question<'runtime'>): Promise<RuntimeAnswer> {
  switch (asked.call) {
    case 'Version':
      return runtime.version();
    case 'ListPodSandbox':
      return runtime.listPodSandbox();
    case 'ListContainers':
      return runtime.listContainers();
    case 'ContainerStatus':
      return runtime.containerStatus(asked.id, asked.verbose ?? false);
    case 'PodSandboxStatus':
      return runtime.podSandboxStatus(asked.id);
  }
}
