import { readFile, writeFile } from 'node:fs/promises';
import type { Certificates, Identity } from './certificates.ts';
import { API_SERVER } from './network.ts';

/** Writes how to reach the API server as one of the identities. JSON is YAML too. */
export async function writeKubeconfig(
  path: string,
  { authority }: Certificates,
  { certificate, key }: Identity,
): Promise<string> {
  const embedded = async (file: string) => (await readFile(file)).toString('base64');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'cluster',
        cluster: {
          server: API_SERVER,
          'certificate-authority-data': await embedded(authority.certificate),
        },
      },
    ],
    users: [
      {
        name: 'user',
        user: {
          'client-certificate-data': await embedded(certificate),
          'client-key-data': await embedded(key),
        },
      },
    ],
    contexts: [{ name: 'cluster', context: { cluster: 'cluster', user: 'user' } }],
    'current-context': 'cluster',
  };
  await writeFile(path, JSON.stringify(config, null, 2), { mode: 0o600 });
  return path;
}

/** The same access, for somebody who works in one namespace of Kubernetes. */
export async function copyForNamespace(from: string, namespace: string, to: string): Promise<void> {
  const config = JSON.parse(await readFile(from, 'utf8')) as Kubeconfig;
  const contexts = config.contexts.map((entry) => ({
    ...entry,
    context: { ...entry.context, namespace },
  }));
  await writeFile(to, JSON.stringify({ ...config, contexts }, null, 2), { mode: 0o600 });
}

interface Kubeconfig {
  readonly contexts: readonly { readonly context: object }[];
}
