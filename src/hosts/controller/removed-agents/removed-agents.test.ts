import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { SyntheticController } from '../../../../test/synthetic-controller.ts';
import { listAt, textAt } from '../../../lib/std/json.ts';
import { perhapsRemoved, removedFrom } from './decide-removed.ts';
import { removedAgents } from './removed-agents.ts';

const HOUR_MS = 3_600_000;
const NODE = { name: 'a', hasCondition: true, silentMs: HOUR_MS, removal: undefined };

test.each([
  ['is installed and was seen lately', true, { silentMs: 0 }, false],
  ['is installed and was seen an hour ago', true, {}, true],
  [
    'is installed, was seen an hour ago and left no condition',
    true,
    { hasCondition: false },
    false,
  ],
  [
    'is installed, was seen an hour ago and left a NodeReport',
    true,
    { hasCondition: false, removal: 'begun' },
    true,
  ],
  ['is not installed and was seen lately', false, { silentMs: 0 }, true],
  ['is not installed and left no condition', false, { hasCondition: false }, true],
  ['is not installed and all is removed', false, { hasCondition: false, removal: 'done' }, false],
  ['is not installed and has written since', false, { removal: 'done' }, true],
] as const)('an agent is perhaps gone or not when it %s', (_, isInstalled, seen, expected) => {
  const node = { ...NODE, ...seen };
  expect(perhapsRemoved([node], isInstalled, HOUR_MS)).toEqual(expected ? [node] : []);
});

test('a node with a pod of an agent has one, whatever its state', () => {
  const nodes = ['a', 'b'].map((name) => ({ ...NODE, name }));
  expect(removedFrom(nodes, new Set(['b']))).toEqual(['a']);
});

let started: SyntheticController | undefined;
afterEach(() => started?.stop());

const DAEMON_SET = '/apis/apps/v1/namespaces/kubediag/daemonsets/kubediag-agent';
const REPORTS = '/apis/diagnosis.kubediag.org/v1/nodereports';

/** Two nodes with conditions and reports; the agent of "with" still has its pod. */
async function cluster(isInstalled: boolean): Promise<SyntheticController> {
  const controller = new SyntheticController();
  started = controller;
  for (const name of ['with', 'without']) {
    const conditions = ['Ready', 'NodeFault'].map((type) => ({ type, status: 'False' }));
    const status = { conditions };
    controller.api.put(`/api/v1/nodes/${name}`, { metadata: { name, uid: name }, status });
    controller.api.put(`${REPORTS}/${name}`, { metadata: { name } });
    controller.lease(name);
  }
  const pod = { metadata: { name: 'agent', namespace: 'kubediag' }, spec: { nodeName: 'with' } };
  controller.api.put('/api/v1/namespaces/kubediag/pods/agent', pod);
  if (isInstalled) controller.api.put(DAEMON_SET, { metadata: { name: 'kubediag-agent' } });
  await controller.start();
  return controller;
}

function typesOf({ api }: SyntheticController, node: string) {
  const conditions = listAt(api.objects.get(`/api/v1/nodes/${node}`), 'status', 'conditions') ?? [];
  return conditions.map((each) => textAt(each, 'type'));
}

const reportsOf = ({ api }: SyntheticController) =>
  [...api.objects.keys()].filter((path) => path.startsWith(REPORTS));

test('conditions and reports go when the agents are deleted, from each node when its pod has gone', async () => {
  const controller = await cluster(false);
  void removedAgents(controller.context, { checkMs: 10 });
  await expect.poll(() => typesOf(controller, 'without')).toEqual(['Ready']);
  expect(typesOf(controller, 'with')).toEqual(['Ready', 'NodeFault']);
  await expect.poll(() => reportsOf(controller)).toEqual([`${REPORTS}/with`]);
  controller.api.remove('/api/v1/namespaces/kubediag/pods/agent');
  await expect.poll(() => typesOf(controller, 'with')).toEqual(['Ready']);
  await expect.poll(() => reportsOf(controller)).toEqual([]);
});

test('a NodeReport without a condition goes too, and after the condition', async () => {
  const controller = await cluster(false);
  controller.api.remove('/api/v1/namespaces/kubediag/pods/agent');
  controller.node('with');
  void removedAgents(controller.context, { checkMs: 10 });
  await expect.poll(() => reportsOf(controller)).toEqual([]);
  expect(typesOf(controller, 'without')).toEqual(['Ready']);
  const writes = controller.api.writes.length;
  await sleep(100);
  expect(controller.api.writes).toHaveLength(writes);
});

test('a node whose status cannot be changed holds back no other one', async () => {
  const controller = await cluster(false);
  controller.api.remove('/api/v1/namespaces/kubediag/pods/agent');
  controller.api.forbidden = '/api/v1/nodes/with/';
  void removedAgents(controller.context, { checkMs: 10 });
  await expect.poll(() => typesOf(controller, 'without')).toEqual(['Ready']);
  await expect.poll(() => reportsOf(controller)).toEqual([`${REPORTS}/with`]);
  expect(controller.messages.join('\n')).toContain('node with: ');
});

test('while agents are installed, the pods are listed once a minute although a node is refused', async () => {
  const controller = await cluster(true);
  controller.api.forbidden = '/api/v1/nodes/without/';
  let lists = 0;
  controller.api.onRequest = ({ path }) => {
    if (path === '/api/v1/namespaces/kubediag/pods') lists += 1;
  };
  void removedAgents(controller.context, { checkMs: 10, removedMs: 1_500 });
  await expect.poll(() => lists).toBe(1);
  await sleep(300);
  expect(lists).toBe(1);
});

test('while agents are installed, only a node without one for long is cleared', async () => {
  const controller = await cluster(true);
  void removedAgents(controller.context, { checkMs: 10 });
  await sleep(100);
  expect(controller.api.writes).toEqual([]);
  controller.stop();
  const later = await cluster(true);
  void removedAgents(later.context, { checkMs: 10, removedMs: 30 });
  await expect.poll(() => typesOf(later, 'without')).toEqual(['Ready']);
  expect(typesOf(later, 'with')).toEqual(['Ready', 'NodeFault']);
});
