import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { kubeconfigAccess } from './kubeconfig.ts';

const folder = mkdtempSync(join(tmpdir(), 'kubediag-kubeconfig-'));
afterAll(() => rmSync(folder, { recursive: true }));

const encoded = (text: string) => Buffer.from(text).toString('base64');

function fileWith(cluster: object, user: object): string {
  const path = join(folder, 'config');
  const config = {
    'current-context': 'here',
    contexts: [
      { name: 'there', context: {} },
      { name: 'here', context: { cluster: 'c', user: 'u' } },
    ],
    clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:6443', ...cluster } }],
    users: [{ name: 'u', user }],
  };
  writeFileSync(path, JSON.stringify(config));
  return path;
}

test('reads certificates from the file and from beside it', async () => {
  writeFileSync(join(folder, 'client.key'), 'the key');
  const path = fileWith(
    { 'certificate-authority-data': encoded('the ca') },
    { 'client-certificate-data': encoded('the certificate'), 'client-key': 'client.key' },
  );
  const { server, credentials } = await kubeconfigAccess(path);
  expect(server).toBe('https://127.0.0.1:6443');
  const read = { ca: 'the ca', cert: 'the certificate', key: 'the key', token: undefined };
  expect(await credentials(false)).toEqual(read);
});

test('reads a token, and its file again when the server rejects it', async () => {
  const plain = await kubeconfigAccess(fileWith({}, { token: 'abc' }));
  expect(await plain.credentials(false)).toMatchObject({ token: 'abc' });
  writeFileSync(join(folder, 'token'), 'one\n');
  const { credentials } = await kubeconfigAccess(fileWith({}, { tokenFile: 'token' }));
  expect(await credentials(false)).toMatchObject({ token: 'one' });
  writeFileSync(join(folder, 'token'), 'two\n');
  expect(await credentials(false)).toMatchObject({ token: 'one' });
  expect(await credentials(true)).toMatchObject({ token: 'two' });
});

test.each([
  ['a program that fetches tokens', {}, { exec: { command: 'aws' } }, '"exec" are not supported'],
  ['a server without TLS', { server: 'http://a' }, {}, 'no https:// address'],
])('rejects %s', async (_, cluster, user, message) => {
  await expect(kubeconfigAccess(fileWith(cluster, user))).rejects.toThrow(message);
});

test('rejects a file that is malformed or incomplete', async () => {
  const path = join(folder, 'config');
  writeFileSync(path, 'a: [');
  await expect(kubeconfigAccess(path)).rejects.toMatchObject({ reason: 'BadRequest' });
  writeFileSync(path, 'current-context: nowhere');
  await expect(kubeconfigAccess(path)).rejects.toThrow('no context "nowhere"');
});
