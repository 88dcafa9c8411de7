import { expect, test } from 'vitest';
import type { Break, Expected } from '../break.ts';
import type { Ran } from '../enter.ts';
import type { ExamNode } from './exam-node.ts';
import { runAll } from './run-all.ts';
import { runCase } from './run-case.ts';

const EXPECTED: Expected = {
  verdict: 'found',
  state: 'active',
  repair: 'done',
  must: ['- mount /pods'],
};
const asked: Break = {
  kind: 'fault',
  fault: 'one',
  variant: 'plain',
  about: 'a mount goes stale',
  expected: EXPECTED,
  make: async () => {},
};

const seen = (lines: readonly string[]) => ({ lines, pods: [], hasServedMount: false });

/** A node with one possible break; the options make single steps fail. */
function syntheticNode(
  options: { slip?: string; trace?: string; remains?: string; failsToBreak?: boolean } = {},
) {
  let things = ['mount /', 'process kubelet'];
  const has = (word: string) => things.some((thing) => thing.startsWith(word));
  const output = (code: number, stdout: string): Ran => ({ code, stdout, stderr: '' });
  const node: ExamNode = {
    settleMs: 0,
    make: async () => {
      if (options.failsToBreak) throw new Error('the kubelet does not answer');
      things = [...things, 'mount /pods/u1'];
    },
    heal: async () => {
      things = ['mount /', 'process kubelet', ...(options.remains ? [options.remains] : [])];
    },
    snapshot: async () => seen(things),
    kubediag: async ([command, ...args]) => {
      if (args.includes('--dry-run')) {
        things = [...things, ...(options.trace ? [options.trace] : [])];
        return output(0, '1 would be repaired\n');
      }
      if (command === 'recover') {
        things = [
          ...things.filter((thing) => !thing.startsWith('mount /pods')),
          ...(options.slip ? [options.slip] : []),
        ];
        return output(0, 'done  unmounted\n');
      }
      const findings = has('mount /pods') ? [{ state: 'active', summary: 'stale' }] : [];
      const verdict = findings.length > 0 ? 'found' : 'clear';
      const report = { faults: [{ name: 'one', verdict, findings }] };
      return output(findings.length, JSON.stringify(report));
    },
  };
  return node;
}

const atRest = async () => seen(['mount /', 'process kubelet']);

test('a fault that is found, repaired and gone has passed', async () => {
  const parts: string[] = [];
  const result = await runCase(asked, syntheticNode(), atRest, (part) => parts.push(part));
  expect(result).toMatchObject({
    name: 'one/plain',
    expected: { verdict: 'found', state: 'active', repair: 'done' },
    verdict: 'found',
    state: 'active',
    repair: 'done',
    verified: 'yes',
    sideEffects: [],
    problems: [],
    passed: true,
    isAtRest: true,
  });
  expect(parts).toEqual([
    'compare',
    'break',
    'compare',
    'check',
    'compare',
    'dry run',
    'compare',
    'repair',
    'verify',
    'compare',
    'heal',
    'compare',
  ]);
});

test('an unexpected change is a side effect', async () => {
  const result = await runCase(asked, syntheticNode({ slip: 'file /bin link to usr/bin' }), atRest);
  expect(result).toMatchObject({
    sideEffects: ['+ file /bin link to usr/bin'],
    passed: false,
    isAtRest: true,
  });
});

test('any change by a dry run is a side effect, also one that a repair may make', async () => {
  const trace = 'file /var/lib/kubediag/journal.jsonl';
  const result = await runCase(asked, syntheticNode({ trace }), atRest);
  expect(result).toMatchObject({ sideEffects: [`+ ${trace} (by the dry run)`], passed: false });
});

test('a change that heal leaves is a side effect, and the node is not at rest', async () => {
  const result = await runCase(asked, syntheticNode({ remains: 'process sleep' }), atRest);
  expect(result.sideEffects).toEqual(['+ process sleep (left after healing)']);
  expect(result).toMatchObject({ passed: false, isAtRest: false });
});

test('a case that throws fails with its message, and the exam continues on a new node', async () => {
  const nodes = [syntheticNode({ failsToBreak: true, remains: 'process sleep' }), syntheticNode()];
  const place = {
    node: () => nodes[0] as ExamNode,
    remake: async () => void nodes.shift(),
  };
  const watch = { stop: new AbortController().signal, onProgress: () => {} };
  const results = await runAll([asked, { ...asked }], [place], watch);
  expect(results.map(({ passed }) => passed)).toEqual([false, true]);
  expect(results[0]?.problems).toEqual(['the kubelet does not answer']);
  expect(results[0]).not.toHaveProperty('isAtRest');
});

test('several nodes share the cases, and the results have the order of the cases', async () => {
  const places = [syntheticNode(), syntheticNode()].map((node) => ({ node: () => node }));
  const cases = ['first', 'second', 'third'].map((variant) => ({ ...asked, variant }));
  const watch = { stop: new AbortController().signal, onProgress: () => {} };
  const results = await runAll(cases, places, watch);
  expect(results.map(({ name }) => name)).toEqual(['one/first', 'one/second', 'one/third']);
});

test('an interrupted exam returns the results of the finished cases', async () => {
  const stop = new AbortController();
  const node = syntheticNode();
  const cases = [asked, { ...asked, variant: 'second' }];
  const onProgress = (args: string) => args.startsWith('2 of 2') && stop.abort();
  const results = await runAll(cases, [{ node: () => node }], { stop: stop.signal, onProgress });
  expect(results.map(({ name }) => name)).toEqual(['one/plain']);
});
