import { expect, test } from 'vitest';
import { readTracerLine } from './bpftrace-line.ts';
import { EventAssembler } from './event-assembler.ts';
import { CALL_COMPLETE_MS, CALLS_OPEN_MAX, TEXT_BYTES } from './limits.ts';
import type { TracedCall } from './traced-call.ts';

function assembled(lines: readonly string[]) {
  const calls: TracedCall[] = [];
  const assembler = new EventAssembler((call) => calls.push(call));
  for (const line of lines) assembler.hear(line, 0);
  return { calls, assembler };
}

const VIEW = 'V 7 100 4026531832 266338304 2';
const ENTER =
  'E 7 100 unlinkat 6 -100 512\n\t40d00e 0x40d00e ([unknown])\n\t4b3e26 x ([unknown])\n';

test('the lines of one call become one call, whatever comes between them', () => {
  const { calls, assembler } = assembled([
    VIEW,
    'X 8 90 -2',
    ENTER,
    'C 7 100 kube let',
    'N 7 100 bin',
    'N 7 100 what lies behind it in memory',
    'P 7 100 edgecore',
    'P 7 100 lib',
    'Z 7 100 0 0',
    'X 7 100 -39',
  ]);
  expect(calls).toEqual([
    {
      call: 'unlinkat',
      pid: 6,
      processName: 'kube let',
      view: { mountNamespace: 4026531832, rootDevice: '254:0', rootInode: '2' },
      from: { name: 'bin', isCut: false, descriptor: -100, folder: '/lib/edgecore' },
      to: undefined,
      returned: -39,
      addresses: [0x40d00e, 0x4b3e26],
      atNs: 100,
    },
  ]);
  expect(assembler.lost).toBe(0);
});

test('a renaming has two names, each with its directory', () => {
  const { calls } = assembled([
    'V 7 100 1 1 2',
    'E 7 100 renameat2 6 5 0',
    'N 7 100 old',
    'P 7 100 a',
    'D 7 100 -100',
    'M 7 100 /b/new',
    'Q 7 100 c',
    'Z 7 100 0 0',
    'X 7 100 0',
  ]);
  expect(calls).toMatchObject([
    {
      from: { name: 'old', descriptor: 5, folder: '/a' },
      to: { name: '/b/new', descriptor: -100, folder: '/c' },
      addresses: [],
    },
  ]);
});

test('a long name is put together, and one that is longer still is called cut', () => {
  const full = 'x'.repeat(TEXT_BYTES - 1);
  const reported = (second: string) =>
    assembled([ENTER, `N 7 100 ${full}`, `N 7 100 ${second}`, 'Z 7 100 0 0', 'X 7 100 0']).calls[0];
  expect(reported('tail')?.from).toMatchObject({ name: `${full}tail`, isCut: false });
  expect(reported(full)?.from).toMatchObject({ name: `${full}${full}`, isCut: true });
});

test('without types, with a path that is too deep or a name that is cut, the directory is not known', () => {
  const folderOf = (lines: readonly string[], end: string) =>
    assembled([...lines, ENTER, 'N 7 100 bin', `Z 7 100 ${end}`, 'X 7 100 0']).calls[0]?.from
      .folder;
  expect(folderOf([], '0 0')).toBeUndefined();
  expect(folderOf([VIEW, 'P 7 100 a'], '1 0')).toBeUndefined();
  expect(folderOf([VIEW, `P 7 100 ${'x'.repeat(TEXT_BYTES - 1)}`], '0 0')).toBeUndefined();
  expect(folderOf([VIEW], '0 0')).toBe('/');
});

test('a call that never returns is reported without a result, one without a start is lost', () => {
  const { calls, assembler } = assembled([ENTER, 'N 7 100 bin', 'Z 7 100 0 0', 'N 9 200 cut']);
  assembler.expire(CALL_COMPLETE_MS - 1);
  expect(calls).toEqual([]);
  assembler.expire(CALL_COMPLETE_MS);
  expect(calls).toMatchObject([{ returned: undefined }]);
  expect(assembler.lost).toBe(1);
});

test('the end of the watch loses nothing', () => {
  const { calls, assembler } = assembled([ENTER, 'N 7 100 bin', 'Z 7 100 0 0', 'N 9 200 cut']);
  assembler.close();
  expect(calls).toHaveLength(1);
  expect(assembler.lost).toBe(0);
});

test('memory stays bounded, and what is thrown away is counted', () => {
  const lines = Array.from({ length: CALLS_OPEN_MAX + 5 }, (_, tid) => `N ${tid} 1 x`);
  expect(assembled(lines).assembler.lost).toBe(5);
});

test.each([
  ['{"type": "attached_probes", "data": {"probes": 14}}', { says: 'nothing' }],
  ['{"type": "printf", "data": "N 1 2 z\\n\\"z\\\\"}', { says: 'printed', text: 'N 1 2 z\n"z\\' }],
  ['{"type": "printf", "data": "ab\\uffffffffcd"}', { says: 'printed', text: 'ab\udcffcd' }],
  ['{"type": "printf", "data": "\\uffffffc3\\uffffffa4"}', { says: 'printed', text: 'ä' }],
  ['{"type": "printf", "data": "\\\\uffffffc3"}', { says: 'printed', text: '\\uffffffc3' }],
  ['{"type": "lost_events", "data": {"events": 41}}', { says: 'lost', events: 41 }],
  ['', { says: 'nothing' }],
  ['WARNING: something', { says: 'nothing' }],
])('bpftrace says %s', (line, output) => {
  expect(readTracerLine(Buffer.from(line))).toEqual(output);
});
