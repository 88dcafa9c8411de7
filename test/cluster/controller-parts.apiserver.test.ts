import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { fieldAt, listAt, textAt } from '../../src/lib/std/json.ts';
import { BUILT_IN_HASH, MANAGED_BY_LABEL } from '../../src/pipeline/api/cluster-names.ts';
import { API_VERSION, type KindName } from '../../src/pipeline/api/kind-names.ts';
import type { GraphNode } from '../../src/pipeline/api/operation-set.ts';
import { kubeStore } from '../../src/pipeline/kube/kube-store.ts';
import { builtInManifests } from '../../src/pipeline/operations/built-in-manifests.ts';
import type { NewObject, Store } from '../../src/pipeline/store/store.ts';
import { type ApiServer, startApiServer } from '../rig/api-server.ts';
import { type ControllerHere, controllerHere, createNamespace } from '../rig/controller-here.ts';

/** What a controller does alone, with no agent, on a real API server. */

let api: ApiServer;
let store: Store;
const running: ControllerHere[] = [];

beforeAll(async () => {
  api = await startApiServer();
  await createNamespace(api);
  store = kubeStore(api.client);
});
afterAll(() => api.stop());
beforeEach(() => api.clear());
afterEach(async () => {
  await Promise.all(running.splice(0).map(({ stop }) => stop()));
});

async function controller(options: Parameters<typeof controllerHere>[1] = {}) {
  const started = await controllerHere(api, options);
  running.push(started);
  return started;
}

const WAIT = { timeout: 30_000, interval: 100 };

function object(kind: KindName, name: string, spec: NewObject['spec']): NewObject {
  return { apiVersion: API_VERSION, kind, metadata: { name }, spec };
}

const script = { processor: { scriptRunner: { script: 'true' }, timeoutSeconds: 30 } };
const get = (kind: KindName, name: string) => store.get({ kind, name });

async function eventsAbout(name: string): Promise<readonly string[]> {
  const path = '/apis/events.k8s.io/v1/namespaces/default/events';
  const items = listAt(await api.client.request({ method: 'GET', path }), 'items') ?? [];
  return items
    .filter((each) => textAt(each, 'regarding', 'name') === name)
    .map((each) => textAt(each, 'reason') ?? '');
}

describe('built-in Operations and OperationSets', () => {
  const count = async (kind: KindName) => (await store.list(kind)).items.length;
  const builtIn = (kind: KindName) => builtInManifests.filter((each) => each.kind === kind).length;

  test('are created, and again after they were deleted', async () => {
    await controller();
    await expect.poll(() => count('Operation'), WAIT).toBe(builtIn('Operation'));
    await expect.poll(() => count('OperationSet'), WAIT).toBe(builtIn('OperationSet'));
    const name = 'stale-subpath-mount';
    const set = await get('OperationSet', name);
    expect(set?.metadata.labels).toEqual({ [MANAGED_BY_LABEL]: 'kubediag' });
    await store.delete({ kind: 'OperationSet', name });
    const uid = async () => (await get('OperationSet', name))?.metadata.uid;
    await expect.poll(uid, WAIT).toMatch(/./);
    expect(await uid()).not.toBe(set?.metadata.uid);
    const isReady = async () => (await get('OperationSet', name))?.status?.ready;
    await expect.poll(isReady, WAIT).toBe(true);
  });

  test('of an earlier version are updated, and those of a person are not', async () => {
    const versioned = (path: string) =>
      ['a', 'b', 'c'].map((name) =>
        object('Operation', name, {
          processor: { httpServer: { path, scheme: 'http' }, timeoutSeconds: 30 },
        }),
      );
    await store.create(object('Operation', 'c', script));
    const old = await controller({ builtIns: versioned('/old') });
    await expect.poll(() => count('Operation'), WAIT).toBe(3);
    const changed = await get('Operation', 'b');
    if (!changed) throw new Error('no Operation b');
    await store.update({ ...changed, spec: script });
    await old.stop();
    running.length = 0;

    const next = await controller({ builtIns: versioned('/new') });
    const pathOf = async (name: string) =>
      fieldAt((await get('Operation', name))?.spec, 'processor', 'httpServer', 'path');
    await expect.poll(() => pathOf('a'), WAIT).toBe('/new');
    const reported = () =>
      next.messages.filter((each) => /Operation [bc]: (?:replaces|changed)/.test(each)).length;
    await expect.poll(reported, WAIT).toBe(2);
    expect((await get('Operation', 'b'))?.spec).toEqual(script);
    expect((await get('Operation', 'c'))?.spec).toEqual(script);
    await expect.poll(() => eventsAbout('b'), WAIT).toContain('BuiltInNotManaged');
    await expect.poll(() => eventsAbout('c'), WAIT).toContain('BuiltInNotManaged');
    const metrics = await (await fetch(`${next.url}/metrics`)).text();
    expect(metrics).toContain('kubediag_built_ins_not_managed{kind="Operation"} 2');
    // What the server makes of our manifest is what we have written.
    expect((await get('Operation', 'a'))?.metadata.annotations?.[BUILT_IN_HASH]).toMatch(/./);
    expect(next.messages.filter((each) => each.endsWith(': updated'))).toHaveLength(1);
  });

  test('of two controllers are not written twice', async () => {
    const both = [await controller(), await controller()];
    await expect.poll(() => count('OperationSet'), WAIT).toBe(builtIn('OperationSet'));
    const leading = both.filter(({ messages }) => messages.includes('became leader'));
    expect(leading).toHaveLength(1);
    // The second start finds everything as it should be.
    await leading[0]?.stop();
    running.splice(0, 2, ...both.filter((each) => each !== leading[0]));
    const [other] = running;
    await expect.poll(() => other?.messages.includes('became leader'), WAIT).toBe(true);
    await store.create(object('Operation', 'last', script));
    await store.create(
      object('OperationSet', 'last', { adjacencyList: [{ to: [1] }, { operation: 'last' }] }),
    );
    await expect
      .poll(async () => (await get('OperationSet', 'last'))?.status?.ready, WAIT)
      .toBe(true);
    expect(other?.messages.filter((each) => /: (created|updated)$/.test(each))).toEqual([]);
  });
});

describe('OperationSets', () => {
  const ready = async (name: string) =>
    textAt(listAt((await get('OperationSet', name))?.status, 'conditions')?.[0], 'reason');

  test('are ready as long as their Operations exist', async () => {
    await controller({ builtIns: [object('Operation', 'built-in', script)] });
    const list = [{ to: [1] }, { operation: 'mine', to: [2] }, { operation: 'built-in' }];
    await store.create(object('OperationSet', 'set', { adjacencyList: list }));
    await expect.poll(() => ready('set'), WAIT).toBe('OperationsMissing');
    await store.create(object('Operation', 'mine', script));
    await expect.poll(() => ready('set'), WAIT).toBe('GraphChecked');
    await store.delete({ kind: 'Operation', name: 'mine' });
    await expect.poll(() => ready('set'), WAIT).toBe('OperationsMissing');
    const set = await get('OperationSet', 'set');
    expect(set?.status).toMatchObject({
      ready: false,
      paths: [[{ id: 1, operation: 'mine' }, { id: 2 }]],
      problems: [{ field: 'spec.adjacencyList[1].operation' }],
      observedGeneration: 1,
    });
  });

  test('with the most paths that may be get all of them', async () => {
    const name = 'a'.repeat(200);
    // Ten layers of two nodes: 1,024 paths of ten nodes, too many for names of this length.
    const graph = (layers: number): readonly GraphNode[] => [
      { to: [1, 2] },
      ...Array.from({ length: layers }, (_, at) => {
        const to = at === layers - 1 ? {} : { to: [2 * at + 3, 2 * at + 4] };
        return [
          { operation: name, ...to },
          { operation: name, ...to },
        ];
      }).flat(),
    ];
    await controller({ builtIns: [object('Operation', name, script)] });
    for (const layers of [8, 10]) {
      await store.create(
        object('OperationSet', `layers-${layers}`, { adjacencyList: graph(layers) }),
      );
    }
    await expect.poll(() => ready('layers-8'), WAIT).toBe('GraphChecked');
    await expect.poll(() => ready('layers-10'), WAIT).toBe('GraphInvalid');
    const set = await get('OperationSet', 'layers-8');
    expect(listAt(set?.status, 'paths')).toHaveLength(256);
    expect(JSON.stringify(set?.status).length).toBeGreaterThan(400_000);
  });
});
