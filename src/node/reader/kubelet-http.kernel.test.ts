import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { certificates } from '../../../test/rig/certificates.ts';
import { getFromKubelet } from './kubelet-http.ts';

/** Not every machine has both. */
const addresses = ['127.0.0.1', '::1'].filter((address) =>
  networkInterfaces().lo?.some((own) => own.address === address),
);
const NOBODY = 65_534;
const scratch = mkdtempSync(join(tmpdir(), 'kubediag-token-'));
const kubeletTokenFile = join(scratch, 'token');
writeFileSync(kubeletTokenFile, 'the-token\n');
afterAll(() => rmSync(scratch, { recursive: true }));

/** A server that answers with the token it was shown, as a process of this user. */
async function askServerOf(user: number, address: string): Promise<string> {
  const code = `
    process.setgroups([]); process.setgid(${user}); process.setuid(${user});
    const server = require('node:https').createServer(
      ${JSON.stringify(certificates.kubelet)},
      (request, response) => response.end(String(request.headers.authorization)),
    );
    server.listen(0, '${address}', () => console.log(server.address().port));`;
  const server = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const [port] = (await once(server.stdout, 'data')) as [Buffer];
    const question = { scheme: 'https', address, port: Number(port), path: '/pods' } as const;
    const settings = { hostRoot: '/', kubeletTokenFile };
    return Buffer.concat((await getFromKubelet(question, settings)).payload).toString();
  } finally {
    server.kill('SIGKILL');
  }
}

test.each(addresses)('a token is shown to a listener of root at %s', async (address) => {
  expect(await askServerOf(0, address)).toBe('Bearer the-token');
});

// Anybody may listen on the kubelet's port while the kubelet is down.
test.each(addresses)('a token is shown to nobody else at %s', async (address) => {
  await expect(askServerOf(NOBODY, address)).rejects.toMatchObject({ failure: 'denied' });
});
