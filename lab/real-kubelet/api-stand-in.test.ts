import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startApiStandIn } from './api-stand-in.ts';
import { CHANGES_MAX } from './limits.ts';
import { ObjectFiles } from './object-files.ts';
import { ObjectStore, type StoredObject } from './object-store.ts';

const POD = { kind: 'Pod', metadata: { name: 'web', namespace: 'shop', uid: 'u-1' } };

interface Answered {
  readonly code: number;
  readonly body: StoredObject & {
    readonly items?: readonly StoredObject[];
    readonly reason?: string;
  };
}

async function api() {
  const folder = mkdtempSync(join(tmpdir(), 'kubediag-api-'));
  const store = new ObjectStore();
  const files = new ObjectFiles(folder, store, 'practice');
  const server = await startApiStandIn(store, {
    port: 0,
    onDelete: (target) => files.remove(target),
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
    rmSync(folder, { recursive: true });
  });
  const ask = async (method: string, path: string, body?: object): Promise<Answered> => {
    const answer = await fetch(`${url}${path}`, {
      method,
      ...(body && { body: JSON.stringify(body) }),
    });
    return { code: answer.status, body: (await answer.json()) as Answered['body'] };
  };
  const write = (path: string, object: object) => {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, 'new'), JSON.stringify(object));
    renameSync(join(folder, 'new'), join(folder, path));
  };
  return { folder, store, files, url, ask, write };
}

/** The changes that a watch sends, one after the other. */
async function* watched(url: string): AsyncGenerator<{ type: string; object: StoredObject }> {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const { body } = await fetch(url, { signal: stop.signal });
  let text = '';
  for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const lines = `${text}${piece}`.split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) yield JSON.parse(line);
  }
}

test('pods are listed by their node, with the defaults of a scheduler and an API server', async () => {
  const { files, ask, write } = await api();
  const volumes = [{ name: 'settings', configMap: { name: 'settings' } }];
  write('pods/shop/web.json', { ...POD, spec: { containers: [{ name: 'app' }], volumes } });
  await files.poll();
  const { body } = await ask('GET', '/api/v1/pods?fieldSelector=spec.nodeName%3Dpractice');
  expect(body.items).toMatchObject([
    {
      metadata: { name: 'web', uid: 'u-1' },
      spec: {
        nodeName: 'practice',
        hostNetwork: true,
        containers: [{ name: 'app', terminationMessagePolicy: 'File' }],
        volumes: [{ configMap: { name: 'settings', defaultMode: 420 } }],
      },
      status: { phase: 'Pending' },
    },
  ]);
  const others = await ask('GET', '/api/v1/pods?fieldSelector=spec.nodeName%3Danother');
  expect(others.body.items).toEqual([]);
  const elsewhere = await ask(
    'GET',
    '/api/v1/namespaces/other/pods?fieldSelector=spec.nodeName!=x',
  );
  expect(elsewhere.body.items).toEqual([]);
});

test('a watch sends changes of the files since the list', async () => {
  const { folder, files, url, ask, write } = await api();
  write('configmaps/shop/settings.json', { kind: 'ConfigMap', metadata: { name: 'settings' } });
  write('configmaps/shop/other.json', { kind: 'ConfigMap', metadata: { name: 'other' } });
  await files.poll();
  const path = '/api/v1/namespaces/shop/configmaps';
  const selector = 'fieldSelector=metadata.name%3Dsettings';
  const { body } = await ask('GET', `${path}?${selector}`);
  expect(body.items).toHaveLength(1);
  const from = `resourceVersion=${body.metadata.resourceVersion}`;
  // A change between a list and the next watch is not lost.
  write('configmaps/shop/settings.json', {
    kind: 'ConfigMap',
    metadata: { name: 'settings' },
    data: { mode: 'new' },
  });
  write('configmaps/shop/other.json', { kind: 'ConfigMap', metadata: { name: 'other' }, data: {} });
  await files.poll();
  const changes = watched(`${url}${path}?watch=true&${selector}&${from}`);
  expect((await changes.next()).value).toMatchObject({
    type: 'MODIFIED',
    object: { apiVersion: 'v1', kind: 'ConfigMap', data: { mode: 'new' } },
  });
  rmSync(join(folder, 'configmaps/shop/settings.json'));
  await files.poll();
  expect((await changes.next()).value).toMatchObject({
    type: 'DELETED',
    object: { metadata: { name: 'settings' } },
  });
});

test('a watch from an expired resourceVersion, or from none, must list first', async () => {
  const { store, ask } = await api();
  const place = { resource: 'leases', namespace: 'kube-node-lease', name: 'practice' };
  for (let round = 0; round < CHANGES_MAX + 2; round += 1) {
    store.put(place, { metadata: { name: 'practice' }, round });
  }
  const path = '/apis/coordination.k8s.io/v1/leases?watch=true';
  expect(await ask('GET', `${path}&resourceVersion=1`)).toMatchObject({
    code: 410,
    body: { kind: 'Status', reason: 'Expired' },
  });
  expect(await ask('GET', `${path}&sendInitialEvents=true`)).toMatchObject({ code: 422 });
});

test('a status patch is merged by its $setElementOrder, and the rest of the pod stays', async () => {
  const { files, ask, write } = await api();
  const pod = { ...POD, spec: { containers: [{ name: 'app' }] } };
  write('pods/shop/web.json', pod);
  await files.poll();
  const patch = (status: object) =>
    ask('PATCH', '/api/v1/namespaces/shop/pods/web/status', { metadata: { uid: 'u-1' }, status });
  const order = { '$setElementOrder/conditions': [{ type: 'Ready' }, { type: 'Scheduled' }] };
  const ready = { type: 'Ready', status: 'False' };
  await patch({ conditions: [ready, { type: 'Scheduled', status: 'True' }], phase: 'Pending' });
  await patch({ ...order, conditions: [{ type: 'Ready', status: 'True' }], phase: 'Running' });
  // The status stays when the file of the pod changes.
  write('pods/shop/web.json', { ...pod, metadata: { ...pod.metadata, labels: { a: 'b' } } });
  await files.poll();
  expect((await ask('GET', '/api/v1/namespaces/shop/pods/web')).body).toMatchObject({
    metadata: { labels: { a: 'b' } },
    spec: { containers: [{ name: 'app' }] },
    status: {
      phase: 'Running',
      conditions: [
        { type: 'Ready', status: 'True' },
        { type: 'Scheduled', status: 'True' },
      ],
    },
  });
  write('pods/shop/web.json', { ...pod, metadata: { ...pod.metadata, uid: 'u-2' } });
  await files.poll();
  const another = await ask('GET', '/api/v1/namespaces/shop/pods/web');
  expect(another.body).toMatchObject({ metadata: { uid: 'u-2' }, status: { phase: 'Pending' } });
});

test('a patch can replace a list or delete an entry by $patch', async () => {
  const { store, ask } = await api();
  const addresses = [
    { type: 'InternalIP', address: '10.0.0.1' },
    { type: 'Hostname', address: 'practice' },
  ];
  const node = { kind: 'Node', metadata: { name: 'practice' }, status: { addresses } };
  expect(await ask('POST', '/api/v1/nodes', node)).toMatchObject({ code: 201 });
  expect(await ask('POST', '/api/v1/nodes', node)).toMatchObject({
    code: 409,
    body: { reason: 'AlreadyExists' },
  });
  const patch = (status: object) => ask('PATCH', '/api/v1/nodes/practice/status', { status });
  await patch({
    '$setElementOrder/addresses': [{ type: 'Hostname' }],
    addresses: [{ $patch: 'delete', type: 'InternalIP' }],
  });
  const known = () => store.get({ resource: 'nodes', name: 'practice' })?.status;
  expect(known()).toEqual({ addresses: [addresses[1]] });
  await patch({ addresses: [{ type: 'InternalIP', address: '10.0.0.2' }, { $patch: 'replace' }] });
  expect(known()).toEqual({ addresses: [{ type: 'InternalIP', address: '10.0.0.2' }] });
});

test('a status update may label a node, and does not change its spec', async () => {
  const { store, ask } = await api();
  await ask('POST', '/api/v1/nodes', { metadata: { name: 'practice' }, spec: { taints: [] } });
  const metadata = { labels: { 'kubernetes.io/os': 'linux' } };
  const options = { metadata, spec: { unschedulable: true }, status: { phase: 'Running' } };
  await ask('PATCH', '/api/v1/nodes/practice/status', options);
  expect(store.get({ resource: 'nodes', name: 'practice' })).toMatchObject({
    metadata: { name: 'practice', ...metadata },
    spec: { taints: [] },
    status: { phase: 'Running' },
  });
  expect(store.list('nodes')[0]?.spec).not.toHaveProperty('unschedulable');
});

test('events are accepted and dropped; a missing object or malformed JSON is an error', async () => {
  const { ask, url } = await api();
  const event = { kind: 'Event', metadata: { name: 'web.1' } };
  expect(await ask('POST', '/api/v1/namespaces/shop/events', event)).toMatchObject({ code: 201 });
  expect((await ask('GET', '/api/v1/events')).body.items).toEqual([]);
  expect(await ask('GET', '/apis/storage.k8s.io/v1/csinodes/practice')).toMatchObject({
    code: 404,
    body: { kind: 'Status', reason: 'NotFound' },
  });
  expect(await ask('GET', '/metrics')).toMatchObject({ code: 404 });
  const broken = await fetch(`${url}/api/v1/nodes`, { method: 'POST', body: '{' });
  expect(broken.status).toBe(400);
});

test('the file of a pod that the kubelet has deleted is removed', async () => {
  const { folder, files, ask, write, store } = await api();
  write('pods/shop/web.json', POD);
  await files.poll();
  await ask('DELETE', '/api/v1/namespaces/shop/pods/web');
  expect(existsSync(join(folder, 'pods/shop/web.json'))).toBe(false);
  await files.poll();
  expect(store.list('pods')).toEqual([]);
});
