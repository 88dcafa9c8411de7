import { request } from 'node:http';
import { expect, test } from 'vitest';
import { BASE, syntheticServer, TOKEN } from '../../../test/synthetic-server.ts';
import { OBJECT_BYTES_MAX } from '../../pipeline/store/limits.ts';
import type { StoredObject } from '../../pipeline/store/store.ts';
import { WATCHES_MAX } from './limits.ts';

const API = 'diagnosis.kubediag.org/v1';
const DIAGNOSES = `${BASE}/namespaces/default/diagnoses`;
const MERGE = {
  authorization: `Bearer ${TOKEN}`,
  'content-type': 'application/merge-patch+json',
};

const diagnosis = (name: string, more: object = {}) => ({
  apiVersion: API,
  kind: 'Diagnosis',
  metadata: { name, labels: { app: name } },
  spec: { operationSet: 'set', nodeName: 'my-node', ...more },
});

const set = (...adjacencyList: readonly object[]) => ({
  apiVersion: API,
  kind: 'OperationSet',
  metadata: { name: 'set' },
  spec: { adjacencyList },
});

const objectIn = ({ text }: { readonly text: string }) => JSON.parse(text) as StoredObject;

test('an object is created, read, listed, replaced and deleted', async () => {
  const { ask } = await syntheticServer();
  const fixture = await ask('POST', DIAGNOSES, diagnosis('a'));
  expect(fixture.code).toBe(201);
  expect(objectIn(fixture)).toMatchObject({
    metadata: { name: 'a', namespace: 'default', generation: 1, labels: { app: 'a' } },
    spec: { operationSet: 'set' },
  });
  const again = await ask('POST', DIAGNOSES, diagnosis('a'));
  expect(again.code).toBe(409);
  expect(JSON.parse(again.text)).toMatchObject({ reason: 'AlreadyExists' });
  expect(objectIn(await ask('GET', `${DIAGNOSES}/a`))).toEqual(objectIn(fixture));
  for (const path of [DIAGNOSES, `${BASE}/diagnoses`, `${DIAGNOSES}?labelSelector=app%3Da`]) {
    const list = JSON.parse((await ask('GET', path)).text) as { readonly items: unknown };
    expect(list, path).toMatchObject({ kind: 'DiagnosisList', items: [{ kind: 'Diagnosis' }] });
  }
  const other = await ask('GET', `${BASE}/namespaces/other/diagnoses`);
  expect(JSON.parse(other.text)).toMatchObject({ items: [] });

  const { metadata } = objectIn(fixture);
  const changed = { ...diagnosis('a', { suspend: true }), metadata };
  const put = await ask('PUT', `${DIAGNOSES}/a`, changed);
  expect(put.code, put.text).toBe(200);
  expect(objectIn(put)).toMatchObject({ metadata: { generation: 2 }, spec: { suspend: true } });
  const stale = await ask('PUT', `${DIAGNOSES}/a`, changed);
  expect(stale.code).toBe(409);
  expect(stale.text).toContain('get it again');
  expect((await ask('PUT', `${DIAGNOSES}/a`, diagnosis('a'))).text).toContain('resourceVersion');

  const deleted = await ask('DELETE', `${DIAGNOSES}/a`);
  expect(JSON.parse(deleted.text)).toMatchObject({ status: 'Success', details: { name: 'a' } });
  const gone = await ask('GET', `${DIAGNOSES}/a`);
  expect(gone.code).toBe(404);
  expect(JSON.parse(gone.text)).toMatchObject({ reason: 'NotFound', details: { name: 'a' } });
});

test.each([
  ['constructor', []],
  ['toString', []],
  ['!constructor', ['a']],
  ['constructor!=x', ['a']],
  ['app', ['a']],
  ['app in (a, b)', ['a']],
  ['app in (b),app', []],
  ['app notin (b,c),app', ['a']],
  ['tier notin (b)', ['a']],
  ['app notin (a)', []],
])('selects by labels: %s', async (selector, names) => {
  const { ask } = await syntheticServer();
  await ask('POST', DIAGNOSES, diagnosis('a'));
  const query = `labelSelector=${encodeURIComponent(selector)}`;
  const list = JSON.parse((await ask('GET', `${DIAGNOSES}?${query}`)).text) as {
    readonly items: readonly { readonly metadata: { readonly name: string } }[];
  };
  expect(list.items.map(({ metadata }) => metadata.name)).toEqual(names);
});

test('a patch changes what it names, and a second one changes nothing', async () => {
  const { ask } = await syntheticServer();
  await ask('POST', DIAGNOSES, diagnosis('a', { suspend: true }));
  const patch = { spec: { cancel: true, suspend: null }, metadata: { annotations: { b: 'c' } } };
  const patched = objectIn(await ask('PATCH', `${DIAGNOSES}/a`, patch, MERGE));
  expect(patched.spec).toEqual({ operationSet: 'set', nodeName: 'my-node', cancel: true });
  expect(patched.metadata).toMatchObject({ labels: { app: 'a' }, annotations: { b: 'c' } });
  const again = objectIn(await ask('PATCH', `${DIAGNOSES}/a`, patch, MERGE));
  expect(again).toEqual(patched);
  const wrong = await ask('PATCH', `${DIAGNOSES}/a`, { spec: { nodeName: 7 } }, MERGE);
  expect(wrong.code).toBe(422);
  const other = { ...MERGE, 'content-type': 'application/json-patch+json' };
  expect(await ask('PATCH', `${DIAGNOSES}/a`, [], other)).toMatchObject({ code: 415 });
});

test('applies all concurrent patches', async () => {
  const { ask } = await syntheticServer();
  await ask('POST', DIAGNOSES, diagnosis('a'));
  const names = Array.from({ length: 6 }, (_, index) => `n${index}`);
  const codes = await Promise.all(
    names.map(async (name) => {
      const patch = { metadata: { labels: { [name]: 'x' } } };
      return (await ask('PATCH', `${DIAGNOSES}/a`, patch, MERGE)).code;
    }),
  );
  expect(codes).toEqual(names.map(() => 200));
  const { labels } = objectIn(await ask('GET', `${DIAGNOSES}/a`)).metadata;
  expect(Object.keys(labels ?? {}).toSorted()).toEqual(['app', ...names]);
});

test('a client cannot write a status', async () => {
  const { ask } = await syntheticServer();
  const given = { ...diagnosis('a'), status: { phase: 'Succeeded' } };
  expect(objectIn(await ask('POST', DIAGNOSES, given)).status).toBeUndefined();
  await ask('PATCH', `${DIAGNOSES}/a`, { status: { phase: 'Succeeded' } }, MERGE);
  expect(objectIn(await ask('GET', `${DIAGNOSES}/a`)).status).toBeUndefined();
  const { code, text } = await ask('PUT', `${DIAGNOSES}/a/status`, given);
  expect(code).toBe(405);
  expect(text).toContain('only the agent writes the status');
});

test('a valid graph is ready at once, with its paths and its hash', async () => {
  const { ask } = await syntheticServer();
  const sound = set({ to: [1] }, { operation: 'http-operation' });
  const fixture = await ask('POST', `${BASE}/operationsets`, sound);
  expect(objectIn(fixture)).toMatchObject({
    metadata: { labels: { 'adjacency-list-hash': '864dcbdbfb' } },
    status: { ready: true, paths: [[{ id: 1, operation: 'http-operation' }]] },
  });
  const longer = {
    spec: { adjacencyList: [{ to: [1] }, { operation: 'a', to: [2] }, { operation: 'b' }] },
  };
  const patched = await ask('PATCH', `${BASE}/operationsets/set`, longer, MERGE);
  expect(objectIn(patched)).toMatchObject({
    metadata: { generation: 2 },
    status: { ready: true, observedGeneration: 2, paths: [[{ id: 1 }, { id: 2 }]] },
  });
});

test('an invalid graph is rejected with all its problems', async () => {
  const { ask, store } = await syntheticServer();
  const bad = set({ operation: 'x', to: [1, 9] }, { operation: 'a', to: [1] });
  const { code, text } = await ask('POST', `${BASE}/operationsets`, bad);
  expect(code).toBe(422);
  const status = JSON.parse(text) as { readonly details: { readonly causes: { field: string }[] } };
  expect(status.details.causes.map(({ field }) => field)).toEqual([
    'spec.adjacencyList[0].operation',
    'spec.adjacencyList[0].to[1]',
    'spec.adjacencyList[1].to[0]',
  ]);
  expect((await store.list('OperationSet')).items).toEqual([]);
});

test.each([
  ['another kind', { ...diagnosis('a'), kind: 'Operation' }, 400],
  ['another namespace', { ...diagnosis('a'), metadata: { name: 'a', namespace: 'b' } }, 400],
  ['no node', { ...diagnosis('a'), spec: { operationSet: 'set' } }, 422],
  ['a number', 7, 400],
  ['nothing', null, 400],
])('%s is refused', async (_, object, wanted) => {
  const { ask, defects } = await syntheticServer();
  const { code, text } = await ask('POST', DIAGNOSES, object === null ? 'null' : object);
  expect(code, text).toBe(wanted);
  expect(defects).toEqual([]);
});

test('a Trigger with an invalid pattern is rejected', async () => {
  const { ask, store } = await syntheticServer();
  const trigger = (alertName: string) => ({
    apiVersion: API,
    kind: 'Trigger',
    metadata: { name: 'down' },
    spec: {
      operationSet: 'set',
      sourceTemplate: { prometheusAlertTemplate: { regexp: { alertName } } },
    },
  });
  const { code, text } = await ask('POST', `${BASE}/triggers`, trigger('(alert1'));
  expect(code).toBe(422);
  expect((JSON.parse(text) as { readonly message: string }).message).toContain(
    'regexp.alertName: error parsing regexp: missing closing ): `(alert1`',
  );
  expect((await store.list('Trigger')).items).toEqual([]);
  expect((await ask('POST', `${BASE}/triggers`, trigger('alert1'))).code).toBe(201);
});

test('completes generateName', async () => {
  const { ask } = await syntheticServer();
  const nameless = { ...diagnosis(''), metadata: { generateName: 'web-' } };
  const names = [await ask('POST', DIAGNOSES, nameless), await ask('POST', DIAGNOSES, nameless)];
  for (const fixture of names) expect(objectIn(fixture).metadata.name).toMatch(/^web-[0-9a-f]{6}$/);
});

test.each([
  ['a name that is none', DIAGNOSES, { generateName: '../x-' }],
  ['a name without end', DIAGNOSES, { generateName: 'x'.repeat(252) }],
  ['a place that is none', `${BASE}/namespaces/..%2Fx/diagnoses`, { name: 'a' }],
])('%s is refused, also where it is of our own making', async (_, path, metadata) => {
  const { ask, store } = await syntheticServer();
  const { code, text } = await ask('POST', path, { ...diagnosis('a'), metadata });
  expect(code, text).toBe(422);
  expect((await store.list('Diagnosis')).items).toEqual([]);
});

test('limits the warnings of a response', async () => {
  const many = Array.from({ length: 500 }, (_, index) => `${index} ${'x'.repeat(100)}`);
  const { ask } = await syntheticServer({ adviceOn: async () => many });
  const { code, headers } = await ask('POST', DIAGNOSES, diagnosis('a'));
  expect(code).toBe(201);
  expect(headers.warning).toMatch(/299 - "and 46\d more warnings"$/);
});

test('sends advice as warnings in ASCII', async () => {
  const { ask } = await syntheticServer({ adviceOn: async () => ['it is "für" later'] });
  const { headers } = await ask('POST', DIAGNOSES, diagnosis('a'));
  expect(headers.warning).toBe(`299 - "it is 'f?r' later"`);
});

test('answers kubectl with table rows', async () => {
  const { ask } = await syntheticServer();
  await ask('POST', DIAGNOSES, diagnosis('a'));
  const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
  const headers = { authorization: `Bearer ${TOKEN}`, accept };
  const table = JSON.parse((await ask('GET', DIAGNOSES, undefined, headers)).text) as object;
  expect(table).toMatchObject({
    kind: 'Table',
    // The last is its age: on a busy machine more than a second may pass.
    rows: [
      { cells: ['a', 'set', 'my-node', '', '', '', '', '', '', expect.stringMatching(/^\d+s$/)] },
    ],
  });
  // --sort-by asks for the objects too: by their metadata alone it would sort nothing else.
  const sorting = await ask('GET', `${DIAGNOSES}?includeObject=Object`, undefined, headers);
  expect(JSON.parse(sorting.text)).toMatchObject({
    rows: [{ object: { kind: 'Diagnosis', spec: { operationSet: 'set' } } }],
  });
});

test('rejects an OperationSet without space for its paths', async () => {
  const { ask } = await syntheticServer();
  const operation = 'a'.repeat(200);
  const wide = Array.from({ length: 400 }, () => ({ operation }));
  const graph = set({ to: wide.map((_, at) => at + 1) }, ...wide);
  const about = 'b'.repeat(OBJECT_BYTES_MAX - JSON.stringify(graph).length - 2_000);
  const given = { ...graph, metadata: { name: 'set', annotations: { about } } };
  for (const path of ['/operationsets?dryRun=All', '/operationsets']) {
    const { code, text } = await ask('POST', `${BASE}${path}`, given);
    expect({ path, code }).toEqual({ path, code: 413 });
    expect(text).toContain('make it smaller');
  }
  expect(await ask('GET', `${BASE}/operationsets/set`)).toMatchObject({ code: 404 });
});

test('serves schemas, and asks kubectl to list before a watch', async () => {
  const { ask } = await syntheticServer();
  const { paths } = JSON.parse((await ask('GET', '/openapi/v3')).text) as {
    readonly paths: Readonly<Record<string, { readonly serverRelativeURL: string }>>;
  };
  const place = paths[`apis/${API}`]?.serverRelativeURL ?? '';
  const { components } = JSON.parse((await ask('GET', place)).text) as {
    readonly components: { readonly schemas: object };
  };
  expect(Object.keys(components.schemas)).toContain('org.kubediag.diagnosis.v1.Diagnosis');
  const early = await ask('GET', `${DIAGNOSES}?watch=1&sendInitialEvents=true`);
  expect(early.code).toBe(422);
});

/** The lines of a watch, as they come. */
function watching(port: number, path: string) {
  const events: { readonly type: string; readonly object: StoredObject }[] = [];
  const { promise: ended, resolve } = Promise.withResolvers<number>();
  const { promise: begun, resolve: begin } = Promise.withResolvers<number>();
  const headers = { authorization: `Bearer ${TOKEN}` };
  const call = request({ host: '127.0.0.1', port, path, headers }, (response) => {
    begin(response.statusCode ?? 0);
    let rest = '';
    response.on('data', (chunk: Buffer) => {
      const lines = `${rest}${chunk.toString()}`.split('\n');
      rest = lines.pop() ?? '';
      events.push(...lines.map((line) => JSON.parse(line) as (typeof events)[number]));
    });
    response.on('close', () => resolve(response.statusCode ?? 0));
  });
  call.on('error', () => resolve(0));
  call.end();
  return { events, ended, begun, leave: () => call.destroy() };
}

test('a watch reports the objects of one namespace and every later change', async () => {
  const { ask, port } = await syntheticServer();
  await ask('POST', DIAGNOSES, diagnosis('a'));
  const watch = watching(port, `${DIAGNOSES}?watch=true`);
  await expect.poll(() => watch.events.length).toBe(1);
  await ask('POST', `${BASE}/namespaces/other/diagnoses`, diagnosis('b'));
  await ask('PATCH', `${DIAGNOSES}/a`, { spec: { cancel: true } }, MERGE);
  await ask('DELETE', `${DIAGNOSES}/a`);
  await expect.poll(() => watch.events.length).toBe(3);
  expect(watch.events.map(({ type, object }) => [type, object.metadata.name])).toEqual([
    ['ADDED', 'a'],
    ['MODIFIED', 'a'],
    ['DELETED', 'a'],
  ]);
  watch.leave();
});

test('a watch from an unknown version ends with Expired', async () => {
  const { port } = await syntheticServer();
  const watch = watching(port, `${DIAGNOSES}?watch=1&resourceVersion=999`);
  await watch.ended;
  expect(watch.events).toMatchObject([{ type: 'ERROR', object: { reason: 'Expired', code: 410 } }]);
});

test('a watch ends after its timeout, and one beyond the limit is rejected', async () => {
  const { port } = await syntheticServer();
  const short = watching(port, `${DIAGNOSES}?watch=1&timeoutSeconds=1`);
  expect(await short.ended).toBe(200);
  const many = Array.from({ length: WATCHES_MAX }, () => watching(port, `${DIAGNOSES}?watch=1`));
  await Promise.all(many.map(({ begun }) => begun));
  expect(await watching(port, `${DIAGNOSES}?watch=1`).begun).toBe(429);
  for (const { leave } of many) leave();
  await expect.poll(() => watching(port, `${DIAGNOSES}?watch=1`).begun).toBe(200);
});

test('a watch with an invalid timeout is rejected', async () => {
  const { ask, defects } = await syntheticServer();
  for (const time of ['-1', 'soon', '1e400', '1.5e999', '0x10']) {
    const { code, text } = await ask('GET', `${DIAGNOSES}?watch=1&timeoutSeconds=${time}`);
    expect({ time, code }).toEqual({ time, code: 400 });
    expect(text).toContain('use a whole number');
  }
  expect(defects).toEqual([]);
});

test('a watch ends when the server does', async () => {
  const { port, close } = await syntheticServer();
  const watch = watching(port, `${DIAGNOSES}?watch=1`);
  expect(await watch.begun).toBe(200);
  await close();
  expect(await watch.ended).toBe(200);
});

test('rejects changes without effect for an ended Diagnosis', async () => {
  const { ask, store } = await syntheticServer();
  const fixture = objectIn(await ask('POST', DIAGNOSES, diagnosis('a')));
  const status = { phase: 'Succeeded' };
  await store.updateStatus({ ...fixture, status });
  const path = `${DIAGNOSES}/a`;
  const late = await ask('PATCH', path, { spec: { dryRun: true, cancel: true } }, MERGE);
  expect(late.code).toBe(422);
  expect(late.text).toContain('\\"a\\" has ended (Succeeded): a change of');
  expect(late.text).toContain('spec.dryRun, spec.cancel has no effect; create another Diagnosis');
  const stored = { spec: { ttlSecondsAfterFinished: 60 }, metadata: { labels: { seen: 'yes' } } };
  expect(objectIn(await ask('PATCH', path, stored, MERGE))).toMatchObject({ ...stored, status });
  // The same manifest once more is no change.
  expect((await ask('PATCH', path, { spec: { nodeName: 'my-node' } }, MERGE)).code).toBe(200);
});
