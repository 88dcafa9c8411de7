import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Agent, createServer, request as requestHttps } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { KubeAccess } from '../../src/pipeline/kube/kube-access.ts';
import type { ApiServer } from './api-server.ts';
import { certificates } from './certificates.ts';

/** What becomes of a request. */
export type Fate =
  | 'pass'
  /** It reaches the server, and its answer is lost. */
  | 'lose-answer'
  /** Each of its events is cut in the middle, and the connection with it. */
  | 'cut'
  | { readonly code: number; readonly headers?: Readonly<Record<string, string>> };

export interface ApiProxy {
  readonly access: KubeAccess;
  /** Decides for each request, which waits until then; "pass" until it is set. */
  decide: (method: string, url: URL) => Fate | Promise<Fate>;
  stop(): Promise<void>;
}

/** Stands between a client and an API server and breaks what passes. It asks as an administrator. */
export async function startApiProxy(api: ApiServer): Promise<ApiProxy> {
  const { cert, key } = certificates.loopback;
  const agent = new Agent({ keepAlive: true, ...api.credentials });
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '', api.server);
    const fate = await proxy.decide(request.method ?? '', url);
    if (typeof fate === 'object') response.writeHead(fate.code, fate.headers).end('{}');
    else passOn(request, response, url, fate, agent);
  };
  const server = createServer({ cert, key }, (request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const proxy: ApiProxy = {
    access: { server: `https://127.0.0.1:${port}`, credentials: async () => ({ ca: cert }) },
    decide: () => 'pass',
    stop: async () => {
      server.closeAllConnections();
      server.close();
      agent.destroy();
    },
  };
  return proxy;
}

function passOn(
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
  fate: 'pass' | 'lose-answer' | 'cut',
  agent: Agent,
): void {
  const { method, headers } = request;
  const lose = () => request.socket.destroy();
  const call = requestHttps(url, { method, headers, agent }, (answer) => {
    if (fate !== 'lose-answer') response.writeHead(answer.statusCode ?? 500, answer.headers);
    answer.on('data', (chunk: Buffer) => {
      if (fate === 'pass') response.write(chunk);
      // The first half of a line; what follows never comes.
      if (fate === 'cut') response.write(chunk.subarray(0, chunk.length / 2), lose);
    });
    answer.on('end', () => (fate === 'lose-answer' ? lose() : response.end()));
    answer.on('error', lose);
  });
  call.on('error', lose);
  response.on('close', () => call.destroy());
  request.pipe(call);
}
