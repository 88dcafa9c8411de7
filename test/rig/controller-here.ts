import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ControllerOptions, runController } from '../../src/hosts/controller/controller.ts';
import { NAMESPACE } from '../../src/pipeline/api/cluster-names.ts';
import { builtInManifests } from '../../src/pipeline/operations/built-in-manifests.ts';
import { answerOf } from '../../src/pipeline/store/store-answer.ts';
import type { ApiServer } from './api-server.ts';

export interface ControllerHere {
  readonly url: string;
  readonly messages: readonly string[];
  readonly stop: () => Promise<void>;
}

/** A controller in this process. Resolves when it listens; it may lead some time later. */
export async function controllerHere(
  api: ApiServer,
  options: Partial<ControllerOptions> = {},
): Promise<ControllerHere> {
  const folder = await mkdtemp(join(tmpdir(), 'kubediag-controller-'));
  const kubeconfig = join(folder, 'kubeconfig.json');
  await writeFile(kubeconfig, kubeconfigOf(api));
  const stop = new AbortController();
  const messages: string[] = [];
  const started = Promise.withResolvers<string>();
  const running = runController(
    {
      ...{ host: '127.0.0.1', port: 0, kubeconfig, namespace: NAMESPACE, version: 'v0.0.0-test' },
      identity: `test-${Math.random().toString(36).slice(2)}`,
      builtIns: builtInManifests,
      ...options,
    },
    stop.signal,
    {
      onStart: ({ url }) => started.resolve(url),
      onMessage: (message) => messages.push(message),
    },
  );
  const url = await Promise.race([
    started.promise,
    running.then((failure) => Promise.reject(new Error(failure?.what ?? 'ended'))),
  ]);
  return {
    url,
    messages,
    stop: async () => {
      stop.abort();
      await running;
      await rm(folder, { recursive: true });
    },
  };
}

/** The namespace of our Leases. */
export async function createNamespace(api: ApiServer): Promise<void> {
  const created = await answerOf(
    api.client.request({
      method: 'POST',
      path: '/api/v1/namespaces',
      body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } },
    }),
  );
  if (!created.ok && created.error.reason !== 'AlreadyExists') throw created.error;
}

export function kubeconfigOf({ server, credentials: { ca, cert, key } }: ApiServer): string {
  const base64 = (text = '') => Buffer.from(text).toString('base64');
  const [cluster, user] = [
    { server, 'certificate-authority-data': base64(ca) },
    { 'client-certificate-data': base64(cert), 'client-key-data': base64(key) },
  ];
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    clusters: [{ name: 'test', cluster }],
    users: [{ name: 'test', user }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
  });
}
