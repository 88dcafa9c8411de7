import { expect, test } from 'vitest';
import { systemTerminal } from '../../../lib/terminal/terminal.ts';
import type { Deletion } from '../../../node/trace/trace-deletions.ts';
import { adviceAfter, countsLine, deletionJson, faultOf, showDeletion } from './show-deletion.ts';

const CHAIN = [
  'syscall.unlinkat',
  'os.Remove',
  'k8s.io/kubernetes/pkg/kubelet/container.(*RealOS).Remove',
  'k8s.io/kubernetes/pkg/kubelet/logs.(*containerLogManager).Clean',
  'k8s.io/kubernetes/pkg/kubelet/kuberuntime.(*kubeGenericRuntimeManager).removeContainerLog',
];

function deletionOf(options: Partial<Deletion> = {}): Deletion {
  return {
    time: new Date(0),
    call: 'unlinkat',
    name: 'bin',
    path: '/bin',
    seenAs: null,
    renamedTo: null,
    kind: 'deleted',
    result: 'done',
    process: {
      pid: 812,
      name: 'kubelet',
      executable: '/usr/bin/kubelet',
      cgroups: ['/', '/system.slice/kubelet.service'],
      pod: null,
      isGone: false,
    },
    stack: CHAIN.map((name) => ({ address: '0x1', function: name, module: '/k', offset: '0x1' })),
    ...options,
  };
}

const terminal = systemTerminal({ quiet: true });

test('the chain of the seed is named, with the command that checks it', () => {
  const shown = showDeletion(deletionOf(), terminal);
  expect(shown).toContain('relative to /\n');
  expect(shown).toContain('cgroup /system.slice/kubelet.service');
  expect(shown).toContain('do    kubediag check container-without-log-path');
  expect(deletionJson(deletionOf())).toMatchObject({ fault: 'container-without-log-path' });
});

test('the kubelet that removes a log by its whole path does its work', () => {
  const usual = deletionOf({ name: '/var/log/pods/x/0.log', path: '/var/log/pods/x/0.log' });
  expect(faultOf(usual)).toBeUndefined();
  expect(showDeletion(usual, terminal)).not.toContain('fault');
  expect(deletionJson(usual)).toMatchObject({ fault: null });
});

test('who is gone is said to be gone, and nothing of a node can move the cursor', () => {
  const process = { ...deletionOf().process, executable: null, cgroups: [], isGone: true };
  const stack = [{ address: '0x4b3e26', function: null, module: null, offset: null }];
  const shown = showDeletion(
    deletionOf({ path: '/a\u001b[2J', name: '/a\u001b[2J', process, stack, result: 'ENOTEMPTY' }),
    terminal,
  );
  expect(shown).not.toContain('\u001b[2J');
  expect(shown).toContain('not deleted (ENOTEMPTY)');
  expect(shown).toContain('it has ended since');
  expect(shown).toContain('while the process runs');
});

test('lost events are reported', () => {
  const line = countsLine(2, { ended: 'time', calls: 90, lost: 3, unresolved: 4, isBehind: true });
  expect(line).toContain('90 deletions and renames seen on this machine, 2 below');
  expect(line).toContain('3 events lost');
  expect(line).toContain('bpftrace was too slow');
  expect(line).toContain('4 by processes that ended before');
});

test.each([
  'no-bpftrace',
  'no-tracefs',
  'no-tracepoints',
  'bpftrace-failed',
  'tracer-failed',
] as const)('a watch that fails with %s says what is wrong, why, and what to do', (failure) => {
  const advice = adviceAfter({ ended: 'failure', failure, detail: 'the\u001b[31m detail' });
  expect(advice).toMatch(/^cannot trace: .+\n {2}why {3}.*the\\x1b\[31m detail.*\n {2}do {4}.+\n$/);
});

test('the package is named that a machine without bpftrace needs', () => {
  expect(adviceAfter({ ended: 'failure', failure: 'no-bpftrace', detail: '' })).toContain(
    'install the package bpftrace',
  );
});
