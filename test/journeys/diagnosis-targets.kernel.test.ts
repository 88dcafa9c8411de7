import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { DiagnosisStatus } from '../../src/pipeline/api/diagnosis.ts';
import { AgentOnNode } from '../rig/agent-on-node.ts';
import { podOf } from '../rig/faulty-node.ts';
import { PracticeNode, WEB } from '../rig/practice-node.ts';
import { object } from '../synthetic-manifests.ts';

const SET = object('OperationSet', 'mounts', {
  adjacencyList: [{ to: [1] }, { operation: 'mount-info-collector' }],
});
const THERE = { namespace: WEB.namespace, name: WEB.name };
const PODS = { version: 'v1.18.8', pods: [podOf(WEB)] };

describe('the pod that a Diagnosis is about', () => {
  let node: PracticeNode;
  let agent: AgentOnNode;

  beforeAll(async () => {
    node = await PracticeNode.make();
    await node.startKubelet({ says: PODS });
    agent = new AgentOnNode(node, 'my-node');
    await agent.stand();
  });

  afterAll(async () => {
    await agent.end('SIGTERM');
    await node.stop();
  });

  function manifest(name: string, spec: object): string {
    const file = join(node.scratch, `${name}.json`);
    const diagnosis = object('Diagnosis', name, { operationSet: 'mounts', ...spec });
    writeFileSync(
      file,
      JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [SET, diagnosis] }),
    );
    return file;
  }

  async function run(name: string, spec: object) {
    const args = ['--node-name', 'my-node', '--state-dir', node.stateFolder, '-o', 'yaml'];
    const ended = await node.kubediag('run', '-f', manifest(name, spec), ...args);
    const parsed = parse(ended.stdout) as { readonly status: DiagnosisStatus } | null;
    return { ...ended, status: parsed?.status ?? {} };
  }

  const reasons = ({ conditions = [] }: DiagnosisStatus) => conditions.map(({ reason }) => reason);
  const apply = (name: string, spec: object) =>
    node.kubediag('apply', '-f', manifest(name, spec), '--state-dir', node.stateFolder);

  it.each([
    ['PodNotFound', { ...THERE, name: 'gone' }, 'shop/gone: GET http://'],
    ['ContainerNotFound', { ...THERE, container: 'gone' }, '"gone" in pod shop/web-0, which has '],
  ])('is looked for first: %s', async (reason, podReference, why) => {
    const ended = await run(reason.toLowerCase(), { podReference });
    expect(ended.code, ended.stderr).toBe(3);
    expect(ended.status).toMatchObject({ phase: 'Failed', result: 'Error' });
    expect(ended.status.steps).toBeUndefined();
    expect(reasons(ended.status)).toEqual([reason]);
    expect(ended.status.conditions?.[0]?.message).toContain(why);

    const applied = await apply(reason.toLowerCase(), { podReference });
    expect(applied.code, applied.stderr).toBe(0);
    const stored = await agent.untilEnded(`/namespaces/default/diagnoses/${reason.toLowerCase()}`);
    expect(reasons((stored.status ?? {}) as DiagnosisStatus)).toEqual([reason]);
  });

  it('that is there is not in the way of its steps', async () => {
    const { code, status } = await run('there', { podReference: { ...THERE, container: 'app' } });
    expect([code, status.phase, status.result]).toEqual([0, 'Succeeded', 'Completed']);
    expect(reasons(status)).toEqual(['DiagnosisAccepted', 'DiagnosisComplete']);
  });

  it('that cannot be searched for is reported, and the steps run nevertheless', async () => {
    node.kubelet?.says({ version: 'v1.18.8' });
    const { status } = await run('silent', { podReference: THERE });
    node.kubelet?.says(PODS);
    expect(status.phase).toBe('Succeeded');
    expect(reasons(status)).toEqual(['DiagnosisAccepted', 'PodNotVerified', 'DiagnosisComplete']);
  });

  it.each([
    ['podSelector', { podSelector: { matchLabels: { app: 'web' } } }],
    ['podReferences', { podReferences: [THERE, { ...THERE, name: 'web-1' }] }],
  ])(
    'is one pod that is named: %s is refused when it is applied, and when it is run',
    async (field, targetSelector) => {
      const applied = await apply(field.toLowerCase(), { targetSelector });
      expect(applied.code).toBe(3);
      expect(applied.stderr).toContain(`spec.targetSelector.${field}`);
      expect(applied.stderr.replace(/\s+/g, ' ')).toContain('create one Diagnosis for each pod');
      const ended = await run(field.toLowerCase(), { targetSelector });
      expect(ended.code).toBe(64);
      expect(ended.stderr).toContain(`spec.targetSelector.${field}`);
    },
  );
});
