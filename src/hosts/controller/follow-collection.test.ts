import { expect, onTestFinished, test } from 'vitest';
import { SyntheticController } from '../../../test/synthetic-controller.ts';
import { Informer } from '../../pipeline/kube/informer.ts';
import type { FollowedCollection } from './controller-context.ts';
import { followCollectionAt, unsyncedReason } from './follow-collection.ts';
import { UNSYNCED_MS } from './limits.ts';

test('a collection that cannot be listed makes the leader not ready after a minute, until it can', async () => {
  const collections = new Map<string, FollowedCollection>();
  const controller = new SyntheticController({ collections });
  onTestFinished(() => controller.stop());
  const { api, context } = controller;
  api.forbidden = '/nodes';
  const informer = () => new Informer({ digest: () => ({}) });
  void followCollectionAt('/api/v1/nodes', informer(), context);
  void followCollectionAt('/api/v1/pods', informer(), context);
  await expect.poll(() => controller.messages.join()).toContain('/api/v1/nodes: forbidden');
  const reason = () => unsyncedReason(collections, performance.now() + UNSYNCED_MS);
  expect(reason()).toBe('the leader cannot list /api/v1/nodes: see its log');
  expect(unsyncedReason(collections, performance.now())).toBeUndefined();
  api.forbidden = ' ';
  await expect.poll(reason, { timeout: 5_000 }).toBeUndefined();
});
