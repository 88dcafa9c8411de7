import { expect, test } from 'vitest';
import { decideStuck } from './decide-stuck.ts';

const OLD = 'shop/web:broken';
const NEW = 'shop/web:2';

const status = (name: string, reason?: string) => ({
  name,
  state: reason ? { waiting: { reason } } : { running: {} },
});

function podWith(more: { readonly name?: string; readonly reason?: string; image?: string } = {}) {
  const { name = 'web-1', reason = 'ImagePullBackOff', image = OLD } = more;
  return {
    metadata: { name, labels: { 'controller-revision-hash': 'web-2' } },
    spec: { containers: [{ name: 'web', image }] },
    status: { containerStatuses: [status('web', reason)] },
  };
}

function setWith(more: { readonly spec?: object; readonly status?: object; image?: string } = {}) {
  const template = { spec: { containers: [{ name: 'web', image: more.image ?? NEW }] } };
  return {
    metadata: { name: 'web', generation: 3 },
    spec: { template, ...more.spec },
    status: { observedGeneration: 3, updateRevision: 'web-3', ...more.status },
  };
}

test('a pod that waits for an image of an earlier template blocks the rollout', () => {
  expect(decideStuck(podWith(), setWith())).toEqual({
    isStuck: true,
    why: `image ${OLD} cannot be pulled, and the StatefulSet asks for ${NEW} now`,
  });
  expect(decideStuck(podWith({ reason: 'ErrImagePull' }), setWith())).toMatchObject({
    isStuck: true,
  });
});

test('so does one whose init container waits', () => {
  const pod = {
    metadata: { name: 'web-0', labels: { 'controller-revision-hash': 'web-2' } },
    spec: { initContainers: [{ name: 'init', image: OLD }], containers: [] },
    status: { initContainerStatuses: [status('init', 'ErrImagePull')] },
  };
  const template = { spec: { initContainers: [{ name: 'init', image: NEW }] } };
  expect(decideStuck(pod, setWith({ spec: { template } }))).toMatchObject({ isStuck: true });
});

const rollingUpdate = (partition: number) => ({
  updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition } },
});

test.each([
  ['it runs', podWith({ reason: '' }), setWith(), 'waits for an image'],
  ['it crashes', podWith({ reason: 'CrashLoopBackOff' }), setWith(), 'waits for an image'],
  ['the template has this image', podWith(), setWith({ image: OLD }), 'still has this image'],
  [
    'the template has just changed',
    podWith(),
    setWith({ status: { observedGeneration: 2 } }),
    'has not seen the latest template',
  ],
  [
    'people delete its pods',
    podWith(),
    setWith({ spec: { updateStrategy: { type: 'OnDelete' } } }),
    'OnDelete',
  ],
  [
    'it would get the same image again',
    podWith(),
    setWith({ spec: rollingUpdate(2) }),
    'below partition 2',
  ],
  [
    'it has the latest revision, and a webhook changed its image',
    podWith(),
    setWith({ status: { updateRevision: 'web-2' } }),
    'latest revision',
  ],
  ['nothing is known of it', {}, {}, 'waits for an image'],
])('a pod is left alone when %s', (_, pod, set, why) => {
  const decision = decideStuck(pod, set);
  expect(decision.isStuck).toBe(false);
  expect(decision.why).toContain(why);
});

test('a pod at the partition is updated', () => {
  const spec = rollingUpdate(1);
  expect(decideStuck(podWith(), setWith({ spec }))).toMatchObject({ isStuck: true });
});
