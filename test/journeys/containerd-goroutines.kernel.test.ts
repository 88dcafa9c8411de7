import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { childOf } from '../../lab/process-mark.ts';
import type { DiagnosisStatus } from '../../src/pipeline/api/diagnosis.ts';
import { PracticeNode } from '../rig/practice-node.ts';
import type { Running } from '../rig/run-kubediag.ts';

async function nodeAlone(): Promise<PracticeNode> {
  const node = await PracticeNode.make();
  onTestFinished(() => node.stop());
  return node;
}

/** The name of a script is that of its process. */
function writeStandIn(node: PracticeNode, onSignal: string): string {
  const path = join(node.scratch, 'bin/containerd');
  mkdirSync(dirname(path), { recursive: true });
  const lines = ['#!/bin/sh', `trap '${onSignal}' USR1`, 'echo $$', 'while :; do sleep 0.1; done'];
  writeFileSync(path, lines.join('\n'));
  chmodSync(path, 0o755);
  return path;
}

async function collect(node: PracticeNode): Promise<string> {
  const object = (kind: string, spec: object) => ({
    ...{ apiVersion: 'diagnosis.kubediag.org/v1', kind, metadata: { name: 'one' }, spec },
  });
  const steps = [{ to: [1] }, { operation: 'containerd-goroutine-collector' }];
  const items = [
    object('OperationSet', { adjacencyList: steps }),
    object('Diagnosis', { operationSet: 'one', nodeName: 'here' }),
  ];
  const file = join(node.scratch, 'one.json');
  writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  const args = ['--node-name', 'here', '--state-dir', node.stateFolder];
  const ended = await node.kubediag('run', '-f', file, '-o', 'yaml', ...args);
  const { status } = parse(ended.stdout) as { readonly status: DiagnosisStatus };
  return status.steps?.[0]?.message ?? ended.stderr;
}

async function isAlive({ child }: Running): Promise<boolean> {
  return existsSync(`/proc/${await childOf(child.pid ?? 0)}/stat`);
}

it('a process that the signal would end does not get it', async () => {
  const node = await nodeAlone();
  expect(await collect(node)).toContain('no process of this name runs on the node');
  const path = join(node.scratch, 'containerd');
  copyFileSync('/usr/bin/sleep', path);
  const sleeping = node.startHere([path, '600']);
  await expect.poll(() => collect(node)).toContain('does not catch SIGUSR1, which would end it');
  expect(await isAlive(sleeping)).toBe(true);
  node.startHere([path, '600']);
  await expect.poll(() => collect(node)).toContain('several run');
});

it('a file that somebody else has laid there is not read', async () => {
  const node = await nodeAlone();
  const marked = join(node.scratch, 'signalled');
  const script = writeStandIn(node, `touch ${marked}`);
  const running = node.startHere(['env', `TMPDIR=${node.scratch}`, script]);
  await running.hasSaid('\n');
  const dump = join(node.scratch, `containerd.${running.said().trim()}.stacks.log`);
  symlinkSync('/etc/shadow', dump);
  expect(await collect(node)).toContain('is no plain file');
  expect(existsSync(marked)).toBe(false);
});

it('what is not a dump is not stored', async () => {
  const node = await nodeAlone();
  const script = writeStandIn(node, 'echo nonsense > $TMPDIR/containerd.$$.stacks.log');
  const running = node.startHere(['env', `TMPDIR=${node.scratch}`, script]);
  await running.hasSaid('\n');
  expect(await collect(node)).toContain('it is no goroutine dump');
  expect(await isAlive(running)).toBe(true);
  expect(existsSync(join(node.stateFolder, 'collected'))).toBe(false);
});
