import { readFileSync } from 'node:fs';
import { expect, onTestFinished } from 'vitest';
import { runcRefusal } from '../../lab/runtime/container-process.ts';
import type { FaultReport } from '../../src/node/checkup/report.ts';
import { CriDouble, type DoubleContainer } from './cri-double.ts';
import { mountChanges, mountTables } from './mount-tables.ts';
import { PracticeNode, type Subpath, WEB } from './practice-node.ts';
import { type Ended, reportOf } from './run-kubediag.ts';
import type { KubeletOptions } from './start-kubelet.ts';

export const FAULT = 'stale-subpath-mount';
/** Does not repair a stale subPath mount by itself. */
export const OLD = 'v1.18.8';
/** Does. */
export const NEW = 'v1.36.3';

export interface NodeWithRuntime {
  readonly node: PracticeNode;
  readonly runtime: CriDouble;
}

type CleanUp = (step: () => Promise<void> | void) => void;

/** A node without a kubelet yet, taken away when the test ends. */
export async function makeNode(cleanUp: CleanUp = onTestFinished): Promise<NodeWithRuntime> {
  const node = await PracticeNode.make();
  cleanUp(() => node.stop());
  const runtime = await CriDouble.serve(node.socket);
  cleanUp(() => runtime.stop());
  return { node, runtime };
}

/** A container that cannot start because of its stale subPath mount, under an old kubelet. */
export async function breakNode(
  { node, runtime }: NodeWithRuntime,
  options: Partial<KubeletOptions> = {},
): Promise<Subpath> {
  await node.startKubelet({ says: { version: OLD, pods: [podOf(WEB)] }, ...options });
  const subpath = await node.subpath();
  subpath.update();
  runtime.containers = [refusedBecauseOf(subpath.target)];
  return subpath;
}

export const RUNNING: DoubleContainer = { pod: WEB, name: 'app', state: 'CONTAINER_RUNNING' };

/** Made past the kubelet, which deletes entries of its working directory when it collects it. */
export const BROKER: DoubleContainer = {
  pod: { uid: '', name: 'mqtt', namespace: '' },
  name: 'mqtt',
  state: 'CONTAINER_EXITED',
  bareWith: { 'io.kubeedge.edgecore/mqtt': 'mqtt' },
};

export function refusedBecauseOf(target: string): DoubleContainer {
  const message = runcRefusal(target, '/etc/nginx.conf', 'no such file or directory');
  return { ...RUNNING, state: 'CONTAINER_EXITED', exitCode: 128, message };
}

/** A pod as the kubelet lists it. */
export function podOf(
  pod: typeof WEB,
  more: { readonly metadata?: object; readonly spec?: object; readonly status?: object } = {},
): object {
  return {
    metadata: { ...pod, ...more.metadata },
    spec: { restartPolicy: 'Always', containers: [{ name: 'app' }], ...more.spec },
    status: { phase: 'Running', ...more.status },
  };
}

export interface Checked {
  readonly ended: Ended;
  readonly fault: FaultReport;
}

export async function check(node: PracticeNode, ...args: readonly string[]): Promise<Checked> {
  const ended = await node.kubediag('check', '-o', 'json', ...args);
  const fault = reportOf(ended).faults.find(({ name }) => name === FAULT);
  if (!fault) throw new Error(`no fault in ${ended.stdout}`);
  return { ended, fault };
}

/** The line of a mount in the kubelet's table; undefined when it is gone. */
export function mountLine(node: PracticeNode, target: string): string | undefined {
  const table = readFileSync(`${node.see('').replace(/root$/, '')}mountinfo`, 'utf8');
  return table.split('\n').find((line) => line.includes(` ${target} `));
}

/** Recovers, and proves that one line left one table, and that the volume can be mounted again. */
export async function expectCured(
  node: PracticeNode,
  subpath: Subpath,
  recover: () => Promise<Ended> = () => node.kubediag('recover', FAULT, '--yes'),
  expected: Pick<Ended, 'code'> = { code: 0 },
): Promise<void> {
  expect(await subpath.tryMount()).toContain('No such file or directory');
  const before = mountTables(node.inside);
  const stale = mountLine(node, subpath.target);
  const ended = await recover();
  expect(ended, ended.stdout + ended.stderr).toMatchObject(expected);
  expect(stale).toContain('//deleted ');
  expect(mountChanges(before, mountTables(node.inside))).toEqual([`- ${stale}`]);
  await subpath.bind();
  expect(await subpath.tryMount()).toBe('version 2\n');
}

/** That nothing in any mount table changes while this happens. */
export async function expectUntouched<T>(node: PracticeNode, action: () => Promise<T>): Promise<T> {
  const before = mountTables(node.inside);
  const result = await action();
  expect(mountChanges(before, mountTables(node.inside))).toEqual([]);
  return result;
}
