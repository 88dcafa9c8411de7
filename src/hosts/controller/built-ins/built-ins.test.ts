import { expect, onTestFinished, test } from 'vitest';
import { SyntheticController } from '../../../../test/synthetic-controller.ts';
import { API_VERSION } from '../../../pipeline/api/kind-names.ts';
import { builtIns } from './built-ins.ts';

test('a change by a person while a controller leads is reported', async () => {
  const metadata = { name: 'node-cordon' };
  const spec = { processor: { httpServer: { path: '/some', scheme: 'http' }, timeoutSeconds: 60 } };
  const builtIn = { apiVersion: API_VERSION, kind: 'Operation', metadata, spec } as const;
  const controller = new SyntheticController({ builtIns: [builtIn] });
  onTestFinished(() => controller.stop());
  const { api, context, messages } = controller;
  void builtIns(context);
  const path = `/apis/${API_VERSION}/operations/node-cordon`;
  await expect.poll(() => api.objects.get(path)).toBeDefined();
  await expect.poll(() => messages).toContain('Operation node-cordon: created');
  api.put(path, { ...api.objects.get(path), spec: { processor: { timeoutSeconds: 1 } } });
  await expect.poll(() => messages.join()).toContain('Operation node-cordon: changed by a person');
});
