import { connectRuntime, type RuntimeConnection } from '../../lib/cri/client.ts';
import { RuntimeCallError } from '../../lib/cri/runtime-call-error.ts';
import { type Question, ReadError, type RuntimeAnswer, sourceOf } from '../model/node-reader.ts';
import { SERVICE_MS } from './limits.ts';

/** The reader's connections to container runtimes, by socket. */
export class ReaderRuntimes {
  readonly #connections = new Map<string, RuntimeConnection>();

  /** `path` is where the socket lies for us. */
  async ask(asked: Question<'runtime'>, path: string): Promise<RuntimeAnswer> {
    const known = this.#connections.get(asked.socket);
    const runtime = known ?? connectRuntime(path, { limitMs: SERVICE_MS });
    this.#connections.set(asked.socket, runtime);
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
