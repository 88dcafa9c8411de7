import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../lib/std/message-of.ts';
import { StoreError } from '../store/store-error.ts';
import { CREDENTIALS_BYTES_MAX, CREDENTIALS_MS } from './limits.ts';

/** How a server is recognised, and how a client proves who it is. All of them are PEM texts. */
export interface KubeCredentials {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  readonly token?: string | undefined;
}

/** Where an API server is, and how to log in there. */
export interface KubeAccess {
  /** "https://10.96.0.1:443" */
  readonly server: string;
  /** Called before each request. With `isRejected` the server has rejected the last ones. */
  readonly credentials: (isRejected: boolean) => Promise<KubeCredentials>;
}

interface ServiceAccountOptions {
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** The directory where the kubelet puts the token. */
  readonly folder?: string;
}

const ACCOUNT_FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount';

/** The access of a pod, by its service account. The kubelet renews the token, so it is read again. */
export function inClusterAccess({
  environment = process.env,
  folder = ACCOUNT_FOLDER,
}: ServiceAccountOptions = {}): KubeAccess {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = environment;
  if (!host || !port) {
    throw new StoreError(
      'BadRequest',
      'API server: unknown address (KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set); run in a pod',
    );
  }
  const read = async () => {
    const [token, ca] = await Promise.all([
      credentialFile(join(folder, 'token')),
      credentialFile(join(folder, 'ca.crt')),
    ]);
    return { token: token.trim(), ca };
  };
  return {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    credentials: readAgain(read),
  };
}

/** Reads credentials when they are older than a minute, and at once when they are rejected. */
export function readAgain(read: () => Promise<KubeCredentials>): KubeAccess['credentials'] {
  let last: { readonly credentials: Promise<KubeCredentials>; readonly readAt: number } | undefined;
  return (isRejected) => {
    const now = performance.now();
    if (!last || isRejected || now - last.readAt > CREDENTIALS_MS) {
      const credentials = read();
      last = { credentials, readAt: now };
      credentials.catch(() => {
        last = undefined;
      });
    }
    return last.credentials;
  };
}

/** A missing file is a temporary error: the kubelet may be about to write it. */
export async function credentialFile(path: string): Promise<string> {
  try {
    const { size } = await stat(path);
    if (size > CREDENTIALS_BYTES_MAX)
      throw new RangeError(`more than ${CREDENTIALS_BYTES_MAX} bytes`);
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new StoreError('ServiceUnavailable', `${path}: ${messageOf(error)}`);
  }
}
