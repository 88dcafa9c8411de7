import { expect, onTestFinished, test, vi } from 'vitest';
import { nodes as crashed } from '../../../../test/faults/kubelet-not-running.ts';
import { nodeNamed } from '../../../../test/synthetic-node.ts';
import { CheckMemory } from '../../../node/checkup/check-memory.ts';
import { kubeletNotRunning } from '../../../node/faults/kubelet-not-running/fault.ts';
import { type NodeReader, ReadError, sourceOf } from '../../../node/model/node-reader.ts';
import type { NodeCheck } from '../../../pipeline/channel/node-check.ts';
import { PROBE_TIMEOUT_MS } from './limits.ts';
import { StandingCheck, type StandingNode } from './standing-check.ts';

/** A node that can become another one at any time. */
class ChangingNode implements StandingNode {
  current: NodeReader;
  isClosed = false;
  readonly longestWait = undefined;

  constructor(current: NodeReader) {
    this.current = current;
  }

  now = () => new Date();
  ask: NodeReader['ask'] = (kind, question) => {
    this.isClosed = false;
    return this.current.ask(kind, question);
  };
  beginCheck() {}
  endCheck() {}
  pause() {
    this.isClosed = true;
  }
  close() {
    this.isClosed = true;
  }
}

test('a change is checked at once, and a cure is confirmed by a second check', async () => {
  const [well, sick] = ['healthy', 'active-crashed'].map((name) =>
    nodeNamed(name, crashed()).build(),
  );
  if (!well || !sick) throw new Error('no such nodes');
  const opened: ChangingNode[] = [];
  const openNode = () => {
    const node = new ChangingNode(well);
    opened.push(node);
    return node;
  };
  const become = (node: NodeReader) => {
    for (const each of opened) each.current = node;
  };
  const checks: NodeCheck[] = [];
  const begun: string[] = [];
  const stopping = new AbortController();
  const tables = openNode();
  const faults = [kubeletNotRunning];
  const standing = new StandingCheck({
    ...{ openNode, tables, faults, settings: {}, memory: new CheckMemory(), stop: stopping.signal },
    onCheck: (check) => void checks.push(check),
    onBegin: (why) => void begun.push(why),
  });
  const running = standing.run();
  onTestFinished(() => stopping.abort());
  const found = () => checks.map(({ findings }) => findings.length);
  await expect.poll(found).toEqual([0]);
  become(sick);
  await expect.poll(found).toEqual([0, 1]);
  become(well);
  await expect.poll(found).toEqual([0, 1, 0, 0]);
  expect(begun).toEqual([
    'the first check',
    expect.stringMatching(/^changed: .*kubelet/),
    expect.stringMatching(/^changed: .*kubelet/),
    'to confirm that kubelet-not-running is gone',
  ]);
  standing.checkSoon('a step has ended');
  await expect.poll(found).toEqual([0, 1, 0, 0, 0]);
  stopping.abort();
  await running;
  expect(opened.map(({ isClosed }) => isClosed)).toEqual([false, true, true]);
});

/** A node whose reader stands still during the first check. */
class StoppedNode extends ChangingNode {
  readonly asked = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<void>();
  #checks = 0;

  override ask: NodeReader['ask'] = async (kind, question) => {
    if (this.#checks > 1) return this.current.ask(kind, question);
    this.asked.resolve();
    await this.#ended.promise;
    throw new ReadError('not-asked', sourceOf(question));
  };
  override beginCheck() {
    this.#checks += 1;
  }
  override endCheck() {
    this.#ended.resolve();
  }
}

test('a probe whose reader stands still ends at its limit, and the next one reads again', async () => {
  const well = nodeNamed('healthy', crashed()).build();
  const [node, probed] = [new ChangingNode(well), new StoppedNode(well)];
  const nodes = [node, probed];
  const begun: string[] = [];
  const stopping = new AbortController();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const standing = new StandingCheck({
    ...{ tables: node, faults: [kubeletNotRunning], settings: {}, memory: new CheckMemory() },
    openNode: () => nodes.shift() ?? node,
    onCheck: () => {},
    onBegin: (why) => begun.push(why),
    stop: stopping.signal,
  });
  const running = standing.run();
  await probed.asked.promise;
  vi.advanceTimersByTime(PROBE_TIMEOUT_MS);
  vi.useRealTimers();
  await expect.poll(() => begun).toEqual(['the first check']);
  await expect.poll(() => begun[1]).toMatch(/^changed: .*kubelet/);
  stopping.abort();
  await running;
});
