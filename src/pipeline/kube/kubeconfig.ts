import { dirname, resolve } from 'node:path';
import { fieldAt, listAt, textAt } from '../../lib/std/json.ts';
import { messageOf } from '../../lib/std/message-of.ts';
import { StoreError } from '../store/store-error.ts';
import { credentialFile, type KubeAccess, type KubeCredentials, readAgain } from './kube-access.ts';

/**
 * The access in a kubeconfig, of its current context: a certificate or a token. Files that it names
 * are read again when they change. Programs that fetch a token (`exec`) are not supported.
 */
export async function kubeconfigAccess(path: string): Promise<KubeAccess> {
  const config = await parsedFile(path);
  const named = (list: string, field: string, name: string | undefined): unknown => {
    const entry = listAt(config, list)?.find((each) => textAt(each, 'name') === name);
    if (entry === undefined) throw wrong(path, `no ${field} "${name}"`);
    return fieldAt(entry, field);
  };
  const context = named('contexts', 'context', textAt(config, 'current-context'));
  const cluster = named('clusters', 'cluster', textAt(context, 'cluster'));
  const user = named('users', 'user', textAt(context, 'user'));
  const server = textAt(cluster, 'server');
  if (!server?.startsWith('https://')) throw wrong(path, 'the server has no https:// address');
  const unsupported = ['exec', 'auth-provider'].find((name) => fieldAt(user, name) !== undefined);
  if (unsupported) throw wrong(path, `users with "${unsupported}" are not supported`);
  const read = async (): Promise<KubeCredentials> => {
    const value = async (from: unknown, field: string, fileField = field) => {
      const encoded = textAt(from, `${field}-data`);
      if (encoded !== undefined) return Buffer.from(encoded, 'base64').toString();
      const file = textAt(from, fileField);
      return file === undefined ? undefined : credentialFile(resolve(dirname(path), file));
    };
    const [ca, cert, key, token] = await Promise.all([
      value(cluster, 'certificate-authority'),
      value(user, 'client-certificate'),
      value(user, 'client-key'),
      textAt(user, 'token') ?? value(user, 'tokenFile'),
    ]);
    return { ca, cert, key, token: token?.trim() };
  };
  return { server, credentials: readAgain(read) };
}

async function parsedFile(path: string): Promise<unknown> {
  const text = await credentialFile(path);
  const { parse } = await import('yaml');
  try {
    return parse(text) as unknown;
  } catch (error) {
    throw wrong(path, messageOf(error));
  }
}

function wrong(path: string, why: string): StoreError {
  return new StoreError('BadRequest', `kubeconfig ${path}: ${why}`);
}
