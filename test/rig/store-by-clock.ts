import { afterAll, expect, test } from 'vitest';
import type { KubeCredentials } from '../../src/pipeline/kube/kube-access.ts';
import { openKubeClient } from '../../src/pipeline/kube/kube-client.ts';
import { kubeStore } from '../../src/pipeline/kube/kube-store.ts';
import { Lease } from '../../src/pipeline/kube/lease.ts';
import { describeStore } from '../../src/pipeline/store/store-contract.ts';
import { clearKinds } from './api-server.ts';

/**
 * Uses an API server from a process of its own, whose clock can be off: a clock is faked when a
 * process starts. `kube-faults.apiserver.test.ts` runs it, and the environment says where the server is.
 */
const { server, credentials } = JSON.parse(process.env.API_SERVER ?? '{}') as {
  readonly server: string;
  readonly credentials: KubeCredentials;
};
const client = openKubeClient({ server, credentials: async () => credentials });

afterAll(() => client.close());

describeStore('API server', async () => {
  await clearKinds(client);
  return kubeStore(client);
});

test('does not take a Lease that a process with the right clock holds', async () => {
  const options = { namespace: 'default', name: 'clock', durationSeconds: 600 };
  expect(await new Lease(client, { ...options, holder: 'off' }).hold()).toBe(false);
});
