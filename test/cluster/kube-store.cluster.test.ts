import { afterAll, beforeAll } from 'vitest';
import { kubeStore } from '../../src/pipeline/kube/kube-store.ts';
import { describeStore } from '../../src/pipeline/store/store-contract.ts';
import { type ApiServer, startApiServer } from '../rig/api-server.ts';

let api: ApiServer;

beforeAll(async () => {
  api = await startApiServer();
});

afterAll(() => api.stop());

describeStore('API server', async () => {
  await api.clear();
  return kubeStore(api.client);
});
