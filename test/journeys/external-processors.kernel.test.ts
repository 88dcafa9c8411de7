import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { DiagnosisStatus } from '../../src/pipeline/api/diagnosis.ts';
import type { StoredObject } from '../../src/pipeline/store/store.ts';
import { AgentOnNode, programsOn } from '../rig/agent-on-node.ts';
import { podOf } from '../rig/faulty-node.ts';
import { type OtherProcessor, serveOtherProcessor } from '../rig/other-processor.ts';
import { PracticeNode, WEB } from '../rig/practice-node.ts';
import { object } from '../synthetic-manifests.ts';

const operation = (name: string, processor: object) => object('Operation', name, { processor });
const graph = (name: string, ...adjacencyList: readonly object[]) =>
  object('OperationSet', name, { adjacencyList });
const script = (text: string, more: object = {}) => ({ scriptRunner: { script: text, ...more } });
const python = (...lines: readonly string[]) => ({
  function: { runtime: 'Python3', codeSource: { 'function.py': lines.join('\n') } },
});

let node: PracticeNode;
let agent: AgentOnNode;
let other: OtherProcessor;
/** What runs on the node when nobody works there. */
let idle: readonly string[] = [];

beforeAll(async () => {
  node = await PracticeNode.make();
  await node.startKubelet({ says: { version: 'v1.18.8', pods: [podOf(WEB)] } });
  other = await serveOtherProcessor();
  agent = new AgentOnNode(node, 'my-node');
  await agent.stand();
  idle = programsOn(node);
});

afterAll(async () => {
  await agent.end('SIGTERM');
  other.stop();
  await node.stop();
});

async function apply(...items: readonly object[]): Promise<void> {
  const file = join(node.scratch, 'all.json');
  writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  const applied = await node.kubediag('apply', '-f', file, '--state-dir', node.stateFolder);
  expect(applied, applied.stderr).toMatchObject({ code: 0 });
}

async function endOf(name: string): Promise<StoredObject & { readonly status: DiagnosisStatus }> {
  const ended = await agent.untilEnded(`/namespaces/default/diagnoses/${name}`);
  return ended as StoredObject & { readonly status: DiagnosisStatus };
}

const outcomesIn = ({ steps = [] }: DiagnosisStatus) =>
  steps.map((step) => `${step.operation} ${step.outcome}`);

it('a graph of one collector is ready at once, and its Diagnosis succeeds', async () => {
  const targetSelector = { nodeNames: ['my-node'] };
  await apply(
    graph('pod-list', { to: [1] }, { operation: 'pod-list-collector' }),
    object('Diagnosis', 'pod-list', { operationSet: 'pod-list', targetSelector }),
  );
  const { status } = await agent.object('/operationsets/pod-list');
  expect(status).toMatchObject({ ready: true, paths: [[{ operation: 'pod-list-collector' }]] });
  expect((await endOf('pod-list')).status).toMatchObject({ phase: 'Succeeded' });
});

describe('a server, a script, a function and a collector of ours in one graph', () => {
  /** As an alert names it, and as the second generation names its node. */
  const NAME = 'prometheus-alert.disk-full.94df165.1622618935';

  const manifests = () => [
    operation('server', { httpServer: { address: '127.0.0.1', port: other.port } }),
    operation(
      'disk-usage',
      script('du -sk "$1"; echo "[$2]$3"', {
        argKeys: ['param.operation.disk_usage.path', 'param.nobody', 'greeting'],
        operationResultKey: 'disk_usage',
      }),
    ),
    operation(
      'function',
      python(
        'def handler(context):',
        '    lines = context["operation.disk_usage.output"].splitlines()',
        '    return {"function.said": lines[1] + " " + lines[0].split("\\t")[1]}',
      ),
    ),
    graph(
      'all-four',
      { to: [1] },
      { operation: 'server', to: [2] },
      { operation: 'disk-usage', to: [3] },
      { operation: 'function', to: [4] },
      { operation: 'pod-list-collector' },
    ),
    object('Diagnosis', NAME, {
      operationSet: 'all-four',
      targetSelector: { nodeNames: ['my-node'] },
      parameters: { 'param.operation.disk_usage.path': '/etc/passwd', asked: 'by-hand' },
    }),
  ];

  async function atTheTerminal(): Promise<DiagnosisStatus> {
    const file = join(node.scratch, 'run.json');
    const items = manifests();
    writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
    const place = ['--node-name', 'my-node', '--state-dir', join(node.scratch, 'own')];
    const ended = await node.kubediag('run', '-f', file, '-o', 'yaml', ...place);
    expect(ended, ended.stderr).toMatchObject({ code: 0 });
    return (parse(ended.stdout) as { readonly status: DiagnosisStatus }).status;
  }

  async function throughAgent(): Promise<DiagnosisStatus> {
    await apply(...manifests());
    return (await endOf(NAME)).status;
  }

  it.each([
    ['at the terminal', atTheTerminal],
    ['through a standing agent', throughAgent],
  ])('each step gets the results of earlier steps, %s', async (_, walk) => {
    Object.assign(other.stored, { greeting: 'hello' });
    const { operationResults = {}, ...status } = await walk();
    expect(status, JSON.stringify(status.steps)).toMatchObject({
      phase: 'Succeeded',
      checkpoint: { pathIndex: 0, nodeIndex: 3 },
      succeededPath: [
        { id: 1, operation: 'server', to: [2] },
        { id: 2, operation: 'disk-usage', to: [3] },
        { id: 3, operation: 'function', to: [4] },
        { id: 4, operation: 'pod-list-collector' },
      ],
    });
    expect(other.stored).toMatchObject({
      asked: 'by-hand',
      'diagnosis.name': NAME,
      node: 'my-node',
    });
    expect(operationResults['operation.disk_usage.output']).toMatch(/^\d+\t[/]etc[/]passwd\n/);
    expect(operationResults['function.said']).toBe('[]hello /etc/passwd');
    const pods = JSON.parse(operationResults['collector.kubernetes.pod.list'] ?? '') as object;
    expect(pods).toMatchObject([{ metadata: WEB }]);
  });
});

/** Run on the other path: the first one failed. */
const SECOND = 'other Succeeded';
const server = (path: string) => ({
  httpServer: { address: '127.0.0.1', port: other.port, path },
});
const brief = { timeoutSeconds: 1 };
/** What the network did is tried again after half a minute, unless the Operation says otherwise. */
const once = (path: string) => ({ httpServer: { ...server(path).httpServer, retries: 0 } });
const LATE = 'no whole answer within 1000 ms (1 attempts)';
/** Nobody else sleeps for so long. */
const LONG = 'sleep 987654';

/** What a step of others does, and how that ends: with no words when it is a success. */
const MANNERS: Readonly<Record<string, readonly [() => object, string]>> = {
  'empty-object': [() => server('/empty-object'), ''],
  null: [() => server('/null'), ''],
  '204': [() => server('/204'), 'it answered 204, and only 200 is success'],
  '500': [() => server('/500'), 'it answered 500, and only 200 is success'],
  number: [() => server('/number'), 'in its answer "n" is no text, and all values must be'],
  list: [() => server('/list'), 'its answer is no JSON object'],
  nothing: [() => server('/nothing'), 'its answer is no JSON object'],
  '3-mib': [() => server('/3-mib'), 'it answered with more than 2097152 bytes'],
  drips: [() => ({ ...once('/drips'), ...brief }), LATE],
  'drips-headers': [() => ({ ...once('/drips-headers'), ...brief }), LATE],
  'says-nothing': [() => ({ ...once('/says-nothing'), ...brief }), LATE],
  resets: [() => once('/resets'), 'ECONNRESET'],
  elsewhere: [() => server('/elsewhere'), 'it leads to another server, which is not followed'],
  'exit-3': [() => script('exit 3'), 'it ended with code 3'],
  'ignores-term': [
    () => ({ ...script(`trap "" TERM; ${LONG} & while :; do ${LONG}; done`), ...brief }),
    'it did not end within 1 s',
  ],
  forks: [() => script(`${LONG} & ${LONG} & true`), ''],
  endless: [
    () => ({ ...script('yes', { operationResultKey: 'yes' }), ...brief }),
    'it did not end within 1 s',
  ],
  'silent-function': [
    () => python('import os', 'def handler(context): os._exit(1)'),
    'it ended with code 1',
  ],
  'late-function': [
    () => ({ ...python('import time', 'def handler(context): time.sleep(60)'), ...brief }),
    'it did not end within 1 s',
  ],
};

describe('steps of others that misbehave, all at once', () => {
  beforeAll(async () => {
    const walks = Object.entries(MANNERS).flatMap(([name, [make]]) => [
      operation(name, make()),
      graph(
        name,
        { to: [1, 3] },
        { operation: name, to: [2] },
        { operation: 'next' },
        { operation: 'other' },
      ),
      object('Diagnosis', name, { operationSet: name, nodeName: 'my-node' }),
    ]);
    const both = ['next', 'other'].map((name) => operation(name, script('true')));
    await apply(...both, ...walks);
  });

  it.each(Object.entries(MANNERS))('%s', async (name, [, words]) => {
    const { status } = await endOf(name);
    const [first] = status.steps ?? [];
    const isGood = words === '';
    const failed = [`${name} Failed`, 'next NotRun', SECOND];
    expect(outcomesIn(status)).toEqual(isGood ? [`${name} Succeeded`, 'next Succeeded'] : failed);
    expect(first?.message ?? '').toContain(words);
    expect(status.phase).toBe('Succeeded');
  });

  it('asks none of them again, nor anybody whom they name', () => {
    const paths = Object.entries(MANNERS).flatMap(([name, [make]]) =>
      'httpServer' in make() ? [`/${name}`] : [],
    );
    expect(paths.map(other.asked)).toEqual(paths.map(() => 1));
    expect(other.asked('/moved')).toBe(0);
  });

  it('leaves nobody behind, and the agent stands', async () => {
    await expect.poll(() => programsOn(node), { timeout: 10_000 }).toEqual(idle);
    expect(await agent.ask('GET', '/operations')).toMatchObject({ code: 200 });
  });
});
