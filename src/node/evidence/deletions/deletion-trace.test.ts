import { expect, test } from 'vitest';
import { DELETIONS_MAX, STACK_FRAMES_MAX } from '../limits.ts';
import { isRelative, readDeletionTrace, removesContainerLog } from './deletion-trace.ts';

const SEED = `bin deleted by command 'edgecore' with pid 55978 
    48a9db syscall.Syscall.abi0+27 (/usr/local/bin/edgecore)
    4b8445 os.Remove+69 (/usr/local/bin/edgecore)
    1a33fd7 k8s.io/kubernetes/pkg/kubelet/container.(*RealOS).Remove+55 (/usr/local/bin/edgecore)
    1f1008e k8s.io/kubernetes/pkg/kubelet/logs.(*containerLogManager).Clean+974 (/usr/local/bin/edgecore)
    4727a1 runtime.goexit.abi0+1 (/usr/local/bin/edgecore)
`;

test('reads name, process and functions from a stack of bpftrace', () => {
  const trace = readDeletionTrace(SEED);
  expect(trace).toMatchObject({ tool: 'bpftrace', isCut: false });
  expect(trace?.deletions).toHaveLength(1);
  const [deletion] = trace?.deletions ?? [];
  expect(deletion).toMatchObject({ name: 'bin', process: 'edgecore', pid: 55978, line: 1 });
  expect(deletion?.stack).toEqual([
    'syscall.Syscall.abi0',
    'os.Remove',
    'k8s.io/kubernetes/pkg/kubelet/container.(*RealOS).Remove',
    'k8s.io/kubernetes/pkg/kubelet/logs.(*containerLogManager).Clean',
    'runtime.goexit.abi0',
  ]);
  expect(removesContainerLog(deletion?.stack ?? [])).toBe(true);
  expect(isRelative(deletion?.name)).toBe(true);
});

test('a stack in the wrong order is not the removal of a log', () => {
  const clean = 'k8s.io/kubernetes/pkg/kubelet/logs.(*containerLogManager).Clean';
  expect(removesContainerLog([clean, 'os.Remove'])).toBe(false);
  expect(removesContainerLog(['os.Remove', clean])).toBe(true);
  expect(removesContainerLog([clean])).toBe(false);
  expect(removesContainerLog(['os.Remove', 'main.main'])).toBe(false);
});

test('reads several deletions from a custom bpftrace program', () => {
  const trace = readDeletionTrace(
    [
      'Attaching 2 probes...',
      'kubelet 31022 dfd=-100 bin',
      '\t40d00e 0x40d00e ([unknown])',
      '\t4b3e26 0x4b3e26 ([unknown])',
      '',
      'unlink: pid=812 comm=rm path=/tmp/x',
      '        unlink+11',
      '        main+120',
      '',
    ].join('\n'),
  );
  expect(trace?.deletions).toMatchObject([
    { name: 'bin', stack: ['0x40d00e', '0x4b3e26'], line: 2 },
    { name: '/tmp/x', pid: 812, process: 'rm', call: 'unlink', stack: ['unlink', 'main'] },
  ]);
});

test('reads the usual formats of strace', () => {
  const trace = readDeletionTrace(
    [
      'openat(AT_FDCWD, "/etc/hosts", O_RDONLY) = 3',
      'unlinkat(AT_FDCWD, "bin", 0) = 0',
      '[pid 31022] unlinkat(AT_FDCWD</var/lib>, "boot", 0) = -1 EISDIR (Is a directory)',
      '31022 14:03:22.123456 rmdir("a b\\n\\"c\\377") = -1 ENOTEMPTY (Directory not empty)',
      '31023<edgecore> renameat2(AT_FDCWD, "old", AT_FDCWD, "new", 0) = 0',
    ].join('\n'),
  );
  expect(trace).toMatchObject({ tool: 'strace' });
  expect(trace?.deletions).toMatchObject([
    { call: 'unlinkat', name: 'bin', result: 'done', line: 2, text: expect.any(String) },
    { name: 'boot', folder: '/var/lib', result: 'EISDIR', pid: 31022 },
    { call: 'rmdir', name: 'a b\n"c\udcff', result: 'ENOTEMPTY' },
    { call: 'renameat2', name: 'old', process: 'edgecore', pid: 31023 },
  ]);
});

test('joins a call that strace prints in two parts, with its stack', () => {
  const trace = readDeletionTrace(
    [
      '[pid 11] unlinkat(AT_FDCWD, "bin", 0 <unfinished ...>',
      '[pid 12] unlinkat(AT_FDCWD, "/tmp/x", 0) = 0',
      '[pid 11] <... unlinkat resumed>) = -1 ENOENT (No such file or directory)',
      ' > /usr/local/bin/edgecore(os.Remove+0x45) [0x4b8445]',
      ' > /usr/local/bin/edgecore(main.main+0x1) [0x4b9000]',
    ].join('\n'),
  );
  expect(trace?.deletions).toMatchObject([
    { name: 'bin', result: 'ENOENT', stack: ['os.Remove', 'main.main'] },
    { name: '/tmp/x', result: 'done', stack: [] },
  ]);
});

test.each([
  ['nothing', ''],
  ['a log', 'E0101 12:00:00.000000 1 kuberuntime_gc.go:146] "Failed to remove container"\n'],
  ['a mention without a stack', "the file bin deleted by command 'rm' with pid 4\n"],
  ['a log that speaks of one', 'E0101 1 reconciler.go:1] rename /a /b: file exists\n'],
  ['a goroutine dump', 'goroutine 1 [running]:\nos.Remove(0x1)\n\t/usr/lib/go/os/file.go:1 +0x1\n'],
  ['a strace of something else', 'openat(AT_FDCWD, "bin", O_RDONLY) = 3\n'],
])('%s is not a trace of deletions', (_, text) => {
  expect(readDeletionTrace(text)).toBeUndefined();
});

test.each([
  [undefined, false],
  ['', false],
  ['/bin', false],
  ['bin', true],
  ['a/', true],
])('%j is a relative name: %s', (name, expected) => {
  expect(isRelative(name)).toBe(expected);
});

test.each([
  ['sys_enter_unlinkat 31022 kubelet bin', [{ name: 'bin', call: 'unlinkat' }]],
  ['unlink: pid=812 comm=rm path=/tmp/x', [{ name: '/tmp/x', call: 'unlink', pid: 812 }]],
  ['command=rm file="a b" name=c', [{ name: 'a', process: 'rm' }]],
  ['31022 kubelet unlinkat', []],
  ['nothing that deletes', []],
])('reads the bpftrace line "%s"', (head, deletions) => {
  const trace = readDeletionTrace(`${head}\n    4b8445 os.Remove+69 (/usr/bin/kubelet)\n`);
  expect(trace?.deletions ?? []).toMatchObject(deletions);
  expect(trace?.deletions ?? []).toHaveLength(deletions.length);
});

test('a stack over the limit is cut, and the trace says so', () => {
  const head = "bin deleted by command 'edgecore' with pid 55978\n";
  const frames = (count: number) => '    48a9db main.call+27 (/usr/bin/edgecore)\n'.repeat(count);
  const whole = readDeletionTrace(head + frames(STACK_FRAMES_MAX));
  expect(whole?.isCut).toBe(false);
  expect(whole?.deletions[0]?.stack).toHaveLength(STACK_FRAMES_MAX);
  const longer = readDeletionTrace(head + frames(STACK_FRAMES_MAX + 1));
  expect(longer?.isCut).toBe(true);
  expect(longer?.deletions[0]?.stack).toHaveLength(STACK_FRAMES_MAX);
});

test('a stack above the first deletion is ignored', () => {
  const frames = '    48a9db main.call+27 (/usr/bin/edgecore)\n'.repeat(STACK_FRAMES_MAX + 1);
  expect(readDeletionTrace(frames + SEED)).toMatchObject({ isCut: false, deletions: [{}] });
});

test('deletions over the limit are dropped, and the trace says so', () => {
  const line = 'unlink("a") = 0\n';
  const whole = readDeletionTrace(line.repeat(DELETIONS_MAX));
  expect(whole).toMatchObject({ tool: 'strace', isCut: false });
  const longer = readDeletionTrace(line.repeat(DELETIONS_MAX + 1));
  expect(longer?.isCut).toBe(true);
  expect(longer?.deletions).toHaveLength(DELETIONS_MAX);
});
