import { readFileSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import { killIfThere } from '../../lab/process-mark.ts';
import type { DiagnosisStatus } from '../../src/pipeline/api/diagnosis.ts';
import { deployedProcesses } from './deployed-processes.ts';
import { install } from './installation.ts';
import { MIXED, NEW_NODE, type SharedCluster, sharedCluster } from './shared-cluster.ts';

/** Results of many megabytes, through an agent with the memory limit of the manifest. */

const API = 'diagnosis.kubediag.org/v1';
/** Of the first node, as every node and pod sees it. */
const SERVER = { address: '10.97.0.1', port: 8701 };
const DIAGNOSES = 6;
const VALUES = 8;
const VALUE_CHARACTERS = 1_900_000;
/** Three pages of 100 objects have 15 MB each. */
const STATUSES = 300;
const STATUS_CHARACTERS = 150_000;
const SOON = { timeout: 240_000, interval: 1_000 };

/** "/3" answers with a large value; "/sum" with the length of all that it was sent. */
const LARGE_SERVER = `
const { createServer } = require('node:http');
const { json } = require('node:stream/consumers');
createServer(async (request, response) => {
  const given = await json(request).catch(() => ({}));
  const large = Object.entries(given).filter(([key]) => key.startsWith('large-'));
  const all = large.map(([, text]) => text).join('');
  const answer = request.url === '/sum'
    ? { keys: String(large.length), characters: String(all.length), foreign: String(all.split('\u20ac').length - 1) }
    : { ['large-' + request.url.slice(1)]: '\u20ac' + 'x'.repeat(${VALUE_CHARACTERS} - 1) };
  response.end(JSON.stringify(answer));
}).listen(${SERVER.port}, '0.0.0.0');
`;

let cluster: SharedCluster;

beforeAll(async () => {
  cluster = await sharedCluster(MIXED);
  await install(cluster);
  void cluster.node(NEW_NODE).run(['node', '-e', LARGE_SERVER], { limitMs: 900_000 });
  const names = [...Array.from({ length: VALUES }, (_, at) => String(at)), 'sum'];
  const operations = names.map((name) => ({
    ...{ apiVersion: API, kind: 'Operation', metadata: { name: `answer-${name}` } },
    spec: { processor: { httpServer: { ...SERVER, path: `/${name}`, scheme: 'http' } } },
  }));
  const graph = ['', ...names.map((name) => `answer-${name}`), 'mount-info-collector'];
  const adjacencyList = graph.map((operation, id) => ({
    ...{ id, ...(operation ? { operation } : {}) },
    ...(id < graph.length - 1 ? { to: [id + 1] } : {}),
  }));
  await cluster.apply(...operations, {
    ...{ apiVersion: API, kind: 'OperationSet', metadata: { name: 'large-answers' } },
    spec: { adjacencyList },
  });
});

interface Diagnoses {
  readonly items: readonly { readonly status?: DiagnosisStatus }[];
}

it('an agent with its memory limit passes 16 MB of each of several Diagnoses on', async () => {
  const agents = () => deployedProcesses(cluster.node(NEW_NODE), ['agent']);
  const before = agents();
  expect(before).toHaveLength(1);
  const labels = { suite: 'large-results' };
  const names = Array.from({ length: DIAGNOSES }, (_, at) => `large-answers-${at}`);
  await cluster.apply(
    ...names.map((name) => ({
      ...{ apiVersion: API, kind: 'Diagnosis', metadata: { name, labels } },
      spec: { operationSet: 'large-answers', nodeName: NEW_NODE },
    })),
  );
  const statuses = async () => {
    const words = ['diagnoses', '--selector=suite=large-results', '--output=json'];
    const { items } = JSON.parse(await cluster.kubectl('get', ...words)) as Diagnoses;
    return items.map(({ status = {} }) => status);
  };
  const open = async () =>
    (await statuses()).filter(({ phase = '' }) => !/^(Succeeded|Failed)$/.test(phase)).length;
  await expect.poll(open, SOON).toBe(0);
  for (const status of await statuses()) {
    const failed = status.steps?.find(({ outcome }) => outcome === 'Failed');
    expect(failed, JSON.stringify(failed)).toBeUndefined();
    expect(status.operationResults).toMatchObject({
      keys: String(VALUES),
      characters: String(VALUES * VALUE_CHARACTERS),
      foreign: String(VALUES),
    });
    expect(status.largeResults).toHaveLength(VALUES);
  }
  // The kernel would have ended the process, and the shell in its container would have started another.
  expect(agents()).toEqual(before);
  console.info(peakOf(before[0] ?? 0));
  await cluster.kubectl('delete', 'diagnoses', '--selector=suite=large-results');
});

it('an agent with its memory limit starts beside many Diagnoses with large statuses', async () => {
  const agents = () => deployedProcesses(cluster.node(NEW_NODE), ['agent']);
  const labels = { suite: 'large-statuses' };
  // One character that takes two bytes of memory makes all of a text take two for each.
  const result = `\u2026${'x'.repeat(STATUS_CHARACTERS)}`;
  const list = (more: object) => ({
    ...{ apiVersion: 'v1', kind: 'List' },
    items: Array.from({ length: STATUSES }, (_, at) => ({
      ...{ apiVersion: API, kind: 'Diagnosis', metadata: { name: `large-status-${at}`, labels } },
      spec: { operationSet: 'large-answers', nodeName: NEW_NODE, suspend: true },
      ...more,
    })),
  });
  const kubectl = async (words: readonly string[], object: object) => {
    const input = JSON.stringify(object);
    const { code, stderr } = await cluster.run(['kubectl', ...words, '--filename=-'], { input });
    expect(code, stderr).toBe(0);
  };
  await kubectl(['create'], list({}));
  const status = { phase: 'Succeeded', observedGeneration: 1, operationResults: { result } };
  await kubectl(['replace', '--subresource=status'], list({ status }));
  const before = agents();
  for (const pid of before) killIfThere(pid);
  await expect.poll(() => agents().filter((pid) => !before.includes(pid)), SOON).toHaveLength(1);
  const started = agents();
  await cluster.apply({
    ...{ apiVersion: API, kind: 'Diagnosis', metadata: { name: 'beside-large-ones' } },
    spec: { operationSet: 'dead-volume-mount', nodeName: NEW_NODE },
  });
  const ended = () =>
    cluster.kubectl('get', 'diagnosis', 'beside-large-ones', '--output=jsonpath={.status.result}');
  await expect.poll(ended, SOON).toBe('NothingFound');
  expect(agents()).toEqual(started);
  console.info(peakOf(started[0] ?? 0));
  await cluster.kubectl('delete', 'diagnoses', '--selector=suite=large-statuses');
});

// VmHWM:	  104300 kB
function peakOf(pid: number): string {
  return /^VmHWM:.*$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[0] ?? '';
}
