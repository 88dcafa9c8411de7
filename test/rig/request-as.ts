import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import { mergePatch } from '../../src/hosts/web/merge-patch.ts';
import type { TriedRequest } from '../../tools/rights/rights-table.ts';
import type { ApiServer } from './api-server.ts';

/** Who sends a request: somebody with a token, a person whom an administrator impersonates, or nobody. */
export type Sender = { readonly token: string } | { readonly user: string } | 'anonymous';

interface Answer {
  readonly code: number;
  readonly body: string;
}

/** Sends a request that the API server checks completely. It stores nothing. */
export async function requestAs(
  api: ApiServer,
  sender: Sender,
  tried: TriedRequest,
): Promise<Answer> {
  const { method, path, patch = 'merge' } = tried;
  const { ca, cert, key } = api.credentials;
  const isImpersonated = sender !== 'anonymous' && 'user' in sender;
  const url = new URL(path, api.server);
  if (method !== 'GET') url.searchParams.set('dryRun', 'All');
  if (patch === 'apply') url.searchParams.set('fieldManager', 'tried');
  const body = await bodyOf(api, tried);
  const sent = body === undefined ? '' : JSON.stringify(body);
  const format = patch === 'apply' ? 'yaml' : 'json';
  const headers = {
    'Content-Type':
      method === 'PATCH' ? `application/${patch}-patch+${format}` : 'application/json',
    'Content-Length': Buffer.byteLength(sent),
    ...(isImpersonated
      ? { 'Impersonate-User': sender.user, 'Impersonate-Group': 'system:authenticated' }
      : {}),
    ...(sender !== 'anonymous' && 'token' in sender
      ? { Authorization: `Bearer ${sender.token}` }
      : {}),
  };
  return new Promise((resolve, reject) => {
    const options = { method, headers, ca, agent: false, ...(isImpersonated ? { cert, key } : {}) };
    const call = request(url, options, (response) => {
      text(response).then(
        (answered) => resolve({ code: response.statusCode ?? 0, body: answered }),
        reject,
      );
    });
    call.on('error', reject);
    call.end(sent);
  });
}

async function bodyOf(api: ApiServer, { method, path, body }: TriedRequest): Promise<unknown> {
  if (method !== 'PUT') return body;
  return mergePatch(await api.client.request({ method: 'GET', path }), body);
}
