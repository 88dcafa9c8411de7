import { describe, expect, test } from 'vitest';
import { headerOf, type LogTime, parseLogLine } from './log-line.ts';

const exact = (iso: string): LogTime => ({ kind: 'exact', ms: Date.parse(iso) });
const zoneless = (iso: string): LogTime => ({ kind: 'zoneless', ms: Date.parse(iso) });
/** In local time of the node, in a leap year. */
const yearless = (iso: string): LogTime => ({ kind: 'yearless', ms: Date.parse(`1972-${iso}`) });

describe('a log line', () => {
  test.each<[string, string, string, LogTime | undefined]>([
    [
      'of klog',
      'E0417 09:35:55.243111    8904 kuberuntime_gc.go:146] "Failed to remove container"',
      '"Failed to remove container"',
      yearless('04-17T09:35:55.243Z'),
    ],
    [
      'of klog, found by grep',
      'kubelet.INFO:77:I0330 15:58:27.936114 4130850 kubelet.go:2012] SyncLoop (housekeeping)',
      'SyncLoop (housekeeping)',
      yearless('03-30T15:58:27.936Z'),
    ],
    [
      'of a runtime around klog',
      '2026-11-15T08:12:12.600016015Z stderr F E1115 08:12:12.600016 1 a.go:1] said',
      'said',
      exact('2026-11-15T08:12:12.600Z'),
    ],
    [
      'of journalctl with a zone',
      '2026-11-15T08:12:12+0100 node-1 kubelet[8904]: said',
      'said',
      exact('2026-11-15T07:12:12Z'),
    ],
    [
      'with a zone of its own',
      '2026-11-15 08:12:12.600 -02:30 said',
      'said',
      exact('2026-11-15T10:42:12.600Z'),
    ],
    ['with a comma', '2026-11-15 08:12:12,600 said', 'said', zoneless('2026-11-15T08:12:12.600Z')],
    [
      'without a zone, around klog',
      '2026-11-15 08:12:12 node kubelet: E1115 08:12:12.600016 1 a.go:1] said',
      'said',
      yearless('11-15T08:12:12.600Z'),
    ],
    [
      'of syslog',
      '<30>Apr  7 09:35:55 edge edgecore[8904]: said',
      'said',
      yearless('04-07T09:35:55Z'),
    ],
    [
      'of December',
      'Dec 31 23:59:59.5 edge kubelet: said',
      'said',
      yearless('12-31T23:59:59.500Z'),
    ],
    ['of a month that does not exist', 'Foo 13 09:35:55 edge kubelet: said', 'said', undefined],
    [
      'of logrus',
      'time="2026-11-15T08:12:12.600016015Z" level=info msg="Logging will be disabled"',
      'Logging will be disabled"',
      exact('2026-11-15T08:12:12.600Z'),
    ],
    [
      "at the top of klog's file",
      'Log file created at: 2026/03/30 15:58:27',
      '',
      zoneless('2026-03-30T15:58:27Z'),
    ],
    ['of an export of the journal', 'MESSAGE=said', 'said', undefined],
    ['of pretty JSON', '\t"MESSAGE" : "said', 'said', undefined],
    ['without any header', 'said', 'said', undefined],
    ['escaped three times', 'a \\\\\\"b\\\\\\" c\\\\nd \\x', 'a "b" c\nd \\x', undefined],
  ])('%s', (_, line, message, time) => {
    expect(parseLogLine(line)).toEqual({ message, time });
  });
});

describe('a JSON line', () => {
  test.each<[string, object, string, LogTime | undefined]>([
    [
      'of klog, in milliseconds, with the error first',
      { ts: 1681724155243.1, caller: 'a.go:1', msg: 'said', pod: { name: 'a' }, err: 'no' },
      '"said" err="no" pod={"name":"a"}',
      { kind: 'exact', ms: 1681724155243 },
    ],
    [
      'of zap, in seconds',
      { ts: 1681724155.5, msg: 'said' },
      '"said"',
      { kind: 'exact', ms: 1681724155500 },
    ],
    [
      'with its time as text',
      { ts: '2026-11-15T08:12:12.600Z', msg: 'said' },
      '"said"',
      exact('2026-11-15T08:12:12.600Z'),
    ],
    [
      'with its time under another name',
      { time: '2026-11-15T08:12:12Z', msg: 'said' },
      '"said"',
      exact('2026-11-15T08:12:12Z'),
    ],
    ['without a time', { msg: 'said' }, '"said"', undefined],
    [
      'of Docker',
      { log: 'said\r\n', stream: 'stderr', time: '2026-11-15T08:12:12.600016015Z' },
      'said',
      exact('2026-11-15T08:12:12.600Z'),
    ],
    [
      'of the journal',
      { __REALTIME_TIMESTAMP: '1776418555243111', MESSAGE: 'said' },
      'said',
      { kind: 'exact', ms: 1776418555243 },
    ],
    [
      'of the journal, with a number',
      { __REALTIME_TIMESTAMP: 1776418555243111, MESSAGE: 'said' },
      'said',
      { kind: 'exact', ms: 1776418555243 },
    ],
    ['of the journal, without a time', { MESSAGE: 'said' }, 'said', undefined],
    ['of the journal, as bytes', { MESSAGE: [115, 97, 105, 100] }, 'said', undefined],
  ])('%s', (_, value, message, time) => {
    expect(parseLogLine(JSON.stringify(value))).toEqual({ message, time });
    expect(parseLogLine(`  ${JSON.stringify(value)} `)).toEqual({ message, time });
  });

  test.each([
    ['is truncated', '{"msg":"said"'],
    ['follows other words', 'event: {"msg":"said"}'],
    ['has no message', '{"level":"info"}'],
    ['has a list that does not contain bytes', '{"MESSAGE":["a"]}'],
  ])('that %s is not changed', (_, line) => {
    expect(parseLogLine(line)).toEqual({ message: line, time: undefined });
  });

  test('the time of the journal takes precedence over that of the line inside', () => {
    const inside = 'E0417 09:35:55.243111    8904 a.go:1] said';
    const line = JSON.stringify({ __REALTIME_TIMESTAMP: '1776418555243111', MESSAGE: inside });
    expect(parseLogLine(line)).toEqual({
      message: 'said',
      time: { kind: 'exact', ms: 1776418555243 },
    });
  });
});

test.each([
  exact('2026-11-15T08:12:12.600Z'),
  zoneless('2026-11-15T08:12:12.600Z'),
  yearless('11-05T08:12:12.600Z'),
])('a header parses to its original time: $kind', (time) => {
  expect(parseLogLine(`${headerOf(time)}said`)).toEqual({ message: 'said', time });
});

test('a line without a time has no header', () => {
  expect(headerOf(undefined)).toBe('');
});
