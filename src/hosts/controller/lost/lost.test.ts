import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { SyntheticController } from '../../../../test/synthetic-controller.ts';
import { textAt } from '../../../lib/std/json.ts';
import { lost } from './lost.ts';

const started: SyntheticController[] = [];
afterEach(() => {
  for (const each of started.splice(0)) each.stop();
});

async function controllerWith(
  set: (controller: SyntheticController) => void,
  times: { readonly arrivalMs?: number; readonly lostEndMs?: number } = {},
): Promise<SyntheticController> {
  const controller = new SyntheticController({ arrivalMs: 0, ...times });
  started.push(controller);
  set(controller);
  await controller.start();
  void lost(controller.context);
  return controller;
}

const NODE = { nodeName: 'web-1' };
const RUNNING = { phase: 'Running', startTime: new Date().toISOString() };
const POLL = { timeout: 10_000, interval: 50 };

function reasonsOf(controller: SyntheticController, name = 'd'): string {
  const { phase, conditions } = (controller.stored(name)?.status ?? {}) as {
    readonly phase?: string;
    readonly conditions?: readonly { readonly reason: string; readonly status: string }[];
  };
  return [phase, ...(conditions ?? []).map(({ reason, status }) => `${reason}=${status}`)].join(
    ' ',
  );
}

test('an agent is lost, and returns', async () => {
  const controller = await controllerWith((each) => {
    each.node('web-1');
    each.lease('web-1', 0.1);
    each.diagnosis('d', NODE, RUNNING);
  });
  await expect.poll(() => reasonsOf(controller), POLL).toBe('Running AgentLost=True');
  controller.lease('web-1');
  await expect.poll(() => reasonsOf(controller), POLL).toBe('Running AgentReturned=False');
  expect(controller.api.writes).toHaveLength(2);
});

test('a change of the leader does not bring a lost agent back, its next renewal does', async () => {
  const reported = [{ type: 'AgentLost', status: 'True', reason: 'AgentLost' }];
  const controller = await controllerWith((each) => {
    each.node('web-1');
    each.lease('web-1');
    each.diagnosis('d', NODE, { ...RUNNING, conditions: reported });
  });
  // Longer than a sweep.
  await sleep(2_500);
  expect(controller.api.writes).toEqual([]);
  controller.lease('web-1');
  await expect.poll(() => reasonsOf(controller), POLL).toBe('Running AgentReturned=False');
});

test.each([
  ['renewed although our watch does not say so', true, false],
  ['renewed while it is read', true, true],
  ['created while it is read', false, true],
])('a Lease that is %s is none that is lost', async (_, exists, isWatched) => {
  const controller = await controllerWith((each) => {
    each.node('web-1');
    if (exists) each.lease('web-1', 0.1);
    each.diagnosis('d', NODE, RUNNING);
  });
  const { api, context } = controller;
  const request = api.request.bind(api);
  let reads = 0;
  api.request = async (given) => {
    if (given.method === 'GET' && given.path.endsWith('/leases/web-1')) {
      reads += 1;
      // A moment before it is read, again and again.
      controller.lease('web-1', 0.1);
      const version = textAt(api.objects.get(given.path), 'metadata', 'resourceVersion');
      const seen = () => context.leases.get('kubediag/web-1')?.resourceVersion;
      if (isWatched) await expect.poll(seen, POLL).toBe(version);
    }
    return request(given);
  };
  await expect.poll(() => reads, POLL).toBeGreaterThan(1);
  expect(reasonsOf(controller)).toBe('Running');
});

test('while the watch shows no renewals, one read of the Lease is enough for all Diagnoses', async () => {
  const names = Array.from({ length: 20 }, (_, at) => `d-${at}`);
  const controller = new SyntheticController({ arrivalMs: 0 });
  started.push(controller);
  controller.node('web-1');
  controller.lease('web-1', 0.1);
  for (const name of names) controller.diagnosis(name, NODE, RUNNING);
  const { api } = controller;
  const watch = api.watch.bind(api);
  api.watch = (path, query, stop) => {
    return watch(path.endsWith('/leases') ? '/silent' : path, query, stop);
  };
  await controller.start();
  controller.lease('web-1');
  const reads: string[] = [];
  api.onRequest = ({ method, path }) => {
    if (method === 'GET') reads.push(path);
  };
  void lost(controller.context);
  // Two sweeps and more.
  await sleep(5_000);
  // Eight Diagnoses are worked on at once, and each of these is read, too.
  expect(reads.length).toBeGreaterThan(0);
  expect(reads.length).toBeLessThanOrEqual(16);
  expect(api.writes).toEqual([]);
});

test('a lost agent that does not return ends its Diagnoses, with an Event', async () => {
  const controller = await controllerWith(
    (each) => {
      each.node('web-1');
      each.lease('web-1', 0.1);
      each.diagnosis('d', NODE, RUNNING);
      each.diagnosis('over', NODE, { phase: 'Succeeded' });
    },
    { lostEndMs: 100 },
  );
  await expect.poll(() => reasonsOf(controller), POLL).toBe('Failed AgentLost=True AgentLost=True');
  expect(controller.stored('d')?.status).toMatchObject({ result: 'Error', observedGeneration: 1 });
  expect(reasonsOf(controller, 'over')).toBe('Succeeded');
  const events = () => [...controller.api.objects].filter(([path]) => path.includes('/events/'));
  await expect.poll(events, POLL).toHaveLength(1);
  expect(events()[0]?.[1]).toMatchObject({
    type: 'Warning',
    reason: 'AgentLost',
    regarding: { kind: 'Diagnosis', name: 'd', uid: 'uid-of-d' },
  });
});

const WAITING = {
  ...RUNNING,
  plan: 'f00d',
  conditions: ['WaitingForApproval', 'WaitingForRecovery', 'WaitingForController'].map((type) => ({
    ...{ type, status: 'True', reason: type },
  })),
};

test('a Diagnosis waits for nothing after its end', async () => {
  const controller = await controllerWith((each) => each.diagnosis('d', NODE, WAITING));
  await expect
    .poll(() => reasonsOf(controller), POLL)
    .toBe(
      'Failed PlanDropped=False RecoveryNotBegun=False ControllerStepOver=False AgentLost=True NodeNotFound=True',
    );
  expect(controller.stored('d')?.status).not.toHaveProperty('plan');
});

test('a Diagnosis whose agent is lost waits on, for an approval too', async () => {
  const controller = await controllerWith((each) => {
    each.node('web-1');
    each.diagnosis('d', NODE, WAITING);
  });
  await expect
    .poll(() => reasonsOf(controller), POLL)
    .toBe(
      'Running WaitingForApproval=True WaitingForRecovery=True WaitingForController=True AgentMissing=True',
    );
  expect(controller.stored('d')?.status).toMatchObject({ plan: 'f00d' });
});

test('a node that does not exist ends its Diagnoses', async () => {
  const controller = await controllerWith((each) => each.diagnosis('d', NODE, RUNNING));
  await expect
    .poll(() => reasonsOf(controller), POLL)
    .toBe('Failed AgentLost=True NodeNotFound=True');
});

test('a node without an agent, and the cancel of a Diagnosis there', async () => {
  const controller = await controllerWith((each) => {
    each.node('web-1');
    each.diagnosis('d', NODE);
  });
  await expect.poll(() => reasonsOf(controller), POLL).toBe('Pending AgentMissing=True');
  controller.change('d', { spec: { cancel: true } });
  await expect
    .poll(() => reasonsOf(controller), POLL)
    .toBe('Failed AgentMissing=True DiagnosisCancelled=True');
});

test('what another writer stores meanwhile is not lost', async () => {
  const controller = await controllerWith((each) => {
    each.node('web-1');
    each.diagnosis('d', NODE, RUNNING);
  });
  let isFirst = true;
  controller.api.onRequest = ({ method }) => {
    if (method !== 'PUT' || !isFirst) return;
    isFirst = false;
    controller.change('d', { status: { operationResults: { a: 'b' } } });
  };
  await expect.poll(() => reasonsOf(controller), POLL).toBe('Running AgentMissing=True');
  expect(controller.stored('d')?.status).toMatchObject({ operationResults: { a: 'b' } });
});
