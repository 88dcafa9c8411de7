import { describe, expect, test } from 'vitest';
import { countedDump, eachDump, journalOf } from '../../../test/synthetic-dump.ts';
import { DumpParser, parseGoroutineDump } from './dump-parser.ts';
import { GROUPS_MAX, IDS_MAX } from './limits.ts';

const IDLE = { functions: ['main.wait', 'main.serve.func1'], state: 'chan receive', minutes: 3 };
const BUSY = { functions: ['syscall.Syscall6', 'os.Stat', 'main.look'], state: 'syscall' };

describe('a goroutine dump', () => {
  test('groups goroutines with the same stack, with their longest wait', () => {
    const dump = parseGoroutineDump(eachDump([IDLE, { ...IDLE, minutes: 9 }, BUSY]));
    expect(dump).toMatchObject({ format: 'each', total: 3, left: 0, isCut: false });
    expect(dump.groups).toMatchObject([
      { count: 2, state: 'chan receive', minutes: 9, ids: [100, 200] },
      { count: 1, state: 'syscall', minutes: 0, ids: [300] },
    ]);
  });

  test('a frame has its function, its position and the arguments of the first goroutine', () => {
    const dump = parseGoroutineDump(`goroutine 7 [select, 20 minutes, locked to thread]:
k8s.io/kubernetes/vendor/k8s.io/mount-utils.(*Mounter).List(0xc0009a4a80, {0x46979d0, 0x1})
	/go/src/k8s.io/kubernetes/_output/dockerized/go/src/k8s.io/kubernetes/vendor/k8s.io/mount-utils/mount.go:90 +0x39
main.main()
	/src/main.go:3 +0x1
`);
    expect(dump.isCut).toBe(false);
    expect(dump.groups).toEqual([
      {
        count: 1,
        state: 'select',
        minutes: 20,
        ids: [7],
        isLocked: true,
        frames: [
          {
            function: 'k8s.io/mount-utils.(*Mounter).List',
            rawFunction: 'k8s.io/kubernetes/vendor/k8s.io/mount-utils.(*Mounter).List',
            file: 'k8s.io/kubernetes/vendor/k8s.io/mount-utils/mount.go',
            line: 90,
            arguments: '0xc0009a4a80, {0x46979d0, 0x1}',
          },
          { function: 'main.main', rawFunction: 'main.main', file: '/src/main.go', line: 3 },
        ],
        isHeadless: false,
        isCut: false,
      },
    ]);
  });

  test('counted stacks have labels, and neither states nor times', () => {
    const text = countedDump([{ ...BUSY, count: 12 }]).replace('\n#', '\n# labels: {"a":"b"}\n#');
    const dump = parseGoroutineDump(text);
    expect(dump).toMatchObject({ format: 'counted', total: 12, isCut: false });
    expect(dump.groups).toMatchObject([
      { count: 12, state: null, minutes: null, ids: [], labels: '{"a":"b"}' },
    ]);
    expect(dump.groups[0]?.frames.map((frame) => frame.function)).toEqual(BUSY.functions);
  });

  test('that ends between two lines of its last stack is cut', () => {
    const text = countedDump([{ ...BUSY, functions: ['os.Stat', 'main.main'] }]);
    const cut = text.slice(0, text.indexOf('\n', text.indexOf('os.Stat')) + 1);
    expect(parseGoroutineDump(cut)).toMatchObject({ total: 1, isCut: true });
    expect(parseGoroutineDump(text)).toMatchObject({ total: 1, isCut: false });
  });

  test.each([
    ['journald', journalOf(eachDump([IDLE, BUSY]))],
    ['a container log', prefixed('2026-11-15T14:12:00.123456789Z stderr F ')],
    ['a quoted mail', prefixed('> ')],
    ['a bracketed time', prefixed('[12:00:01.234] ')],
    ['another line ending', eachDump([IDLE, BUSY]).replaceAll('\n', '\r\n')],
    ['spaces for tabs', eachDump([IDLE, BUSY]).replaceAll('\t', '        ')],
    [
      'noise around it',
      `I1115 start (pid 1)\n\n${eachDump([IDLE, BUSY])}\n\nrax    0x0\nexit status 2\n`,
    ],
  ])('is read through %s', (_, text) => {
    const dump = parseGoroutineDump(text);
    expect(dump).toMatchObject({ format: 'each', total: 2, isCut: false });
    expect(dump.groups.map(({ frames }) => frames.map((frame) => frame.function))).toEqual([
      ['main.wait', 'main.serve'],
      BUSY.functions,
    ]);
    expect(dump.groups.every(({ frames }) => frames.every(({ line }) => line !== null))).toBe(true);
  });

  test('interleaved lines of a log are ignored', () => {
    const lines = journalOf(eachDump([BUSY])).split('\n');
    const other =
      'Nov 15 14:12:01 node1 kubelet[812]: I1115 14:12:01.1 1 x.go:12] "Sync" (took 3ms)';
    const dump = parseGoroutineDump(lines.toSpliced(3, 0, other).join('\n'));
    expect(dump.groups[0]?.frames.map((frame) => frame.function)).toEqual(BUSY.functions);
  });

  test('reports frames that Go left out', () => {
    const text = eachDump([BUSY]).replace('os.Stat(', '...23 frames elided...\nos.Stat(');
    const [group] = parseGoroutineDump(text).groups;
    expect(group).toMatchObject({ isCut: true, isHeadless: false });
    expect(group?.frames).toHaveLength(3);
  });

  test('a stack without its first line counts, and the dump is cut', () => {
    const [, ...rest] = eachDump([BUSY]).split('\n');
    const dump = parseGoroutineDump(rest.join('\n'));
    expect(dump).toMatchObject({ format: 'each', total: 1, isCut: true });
    expect(dump.groups).toMatchObject([{ state: null, minutes: null, isHeadless: true }]);
  });

  test('a line that only resembles a call is ignored', () => {
    for (const text of [
      '',
      'hello\n',
      'main.main()\n',
      'a.b(c)\nx:12\n',
      '# labels: {}\n',
      '3 @\n\n',
    ]) {
      expect(parseGoroutineDump(text).groups.flatMap(({ frames }) => frames)).toEqual([]);
    }
    expect(parseGoroutineDump('kubelet.service: failed (exit-code)\n').format).toBe('none');
  });

  test('the registers and threads of a crash are ignored', () => {
    const dump = parseGoroutineDump(
      'SIGQUIT: quit\nPC=0x46c361 m=0 sigcode=0\n\n' +
        'goroutine 0 gp=0x5ec8e0 m=0 mp=0x5ed120 [idle]:\n' +
        'runtime.futex(0x5ed3c8, 0x80)\n\t/usr/go/src/runtime/sys.s:557 +0x21 fp=0x7ff sp=0x7fe pc=0x46\n' +
        'runtime.mstart()\n\t/usr/go/src/runtime/asm.s:395 +0x5 fp=0x7ff sp=0x7fe pc=0x46\n\n' +
        `${eachDump([BUSY])}\nrax    0xca\nrip    0x46c361\n`,
    );
    expect(dump.total).toBe(2);
    expect(dump.groups[0]).toMatchObject({ state: 'idle', ids: [0] });
    expect(dump.groups[0]?.frames).toHaveLength(2);
  });

  test('too many different stacks are only counted', () => {
    const parser = new DumpParser();
    for (let at = 0; at < GROUPS_MAX + 50; at += 1) {
      parser.push(`${eachDump([{ functions: [`main.f${at}`], id: at }])}\n`);
    }
    const dump = parser.finish();
    expect(dump).toMatchObject({ total: GROUPS_MAX + 50, left: 50 });
    expect(dump.groups).toHaveLength(GROUPS_MAX);
  });

  test('only the first few goroutine ids are listed', () => {
    const dump = parseGoroutineDump(eachDump([{ ...IDLE, count: 500 }]));
    expect(dump.groups).toMatchObject([{ count: 500 }]);
    expect(dump.groups[0]?.ids).toHaveLength(IDS_MAX);
  });
});

function prefixed(prefix: string): string {
  return eachDump([IDLE, BUSY])
    .split('\n')
    .slice(0, -1)
    .map((line) => `${(prefix + line).trimEnd()}\n`)
    .join('');
}
