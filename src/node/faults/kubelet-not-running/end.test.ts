import { describe, expect, test } from 'vitest';
import type { ServiceUnit, UnitEvent, UnitState } from '../../evidence/services/service-unit.ts';
import { endOf } from './end.ts';

const STATE: UnitState = {
  unit: 'kubelet.service',
  active: 'failed',
  sub: 'failed',
  result: 'success',
  status: '0',
  restarts: 0,
  enabled: 'enabled',
  since: '',
  hasJob: false,
  text: '',
  origin: { command: 'systemctl show' },
};

const OUT_OF_MEMORY = 'the kernel killed it because memory ran out (OOM)';

const event = (what: UnitEvent['what'], fields: UnitEvent['fields'] = {}): UnitEvent => ({
  what,
  fields,
  text: what,
  origin: { command: 'journalctl' },
  time: new Date('2026-04-04T16:38:12Z'),
});
const exited = (status: string, code = 'exited', name = '') =>
  event('unit-exited', { code, status, name });

const unitOf = (
  state: Partial<UnitState> | undefined,
  events: readonly UnitEvent[] = [],
): ServiceUnit => ({
  ...(state ? { state: { ...STATE, ...state } } : {}),
  hasNoUnit: false,
  events,
  lastLines: [],
  unread: [],
});

describe('what systemd says of the unit', () => {
  test.each<[string, Partial<UnitState>, string, string]>([
    [
      'an exit',
      { result: 'exit-code', status: '255' },
      'KubeletCrashed',
      'it exited with code 255',
    ],
    [
      'a signal',
      { result: 'signal', status: '11' },
      'KubeletCrashed',
      'it was ended by signal SIGSEGV',
    ],
    [
      'a rare signal',
      { result: 'signal', status: '31' },
      'KubeletCrashed',
      'it was ended by signal 31',
    ],
    [
      'a core dump',
      { result: 'core-dump', status: '6' },
      'KubeletCrashed',
      'it was ended by signal SIGABRT',
    ],
    ['a timeout', { result: 'timeout' }, 'KubeletCrashed', 'systemd ended it (timeout)'],
    ['its watchdog', { result: 'watchdog' }, 'KubeletCrashed', 'systemd ended it (watchdog)'],
    ['no memory', { result: 'oom-kill', status: '9' }, 'KubeletOutOfMemory', OUT_OF_MEMORY],
    [
      'too many starts',
      { result: 'start-limit-hit' },
      'KubeletCrashed',
      'it failed, and systemd no longer starts it again',
    ],
    ['a failure without a result', {}, 'KubeletCrashed', 'it failed'],
    ['rest', { active: 'inactive' }, 'KubeletStopped', 'kubelet.service is stopped'],
    [
      'rest since a moment',
      { active: 'inactive', since: 'Sat 16:38' },
      'KubeletStopped',
      'kubelet.service has been stopped since Sat 16:38',
    ],
    [
      'a disabled unit',
      { active: 'inactive', enabled: 'disabled' },
      'KubeletStopped',
      'kubelet.service is stopped, and is disabled: it does not start at boot either',
    ],
    [
      'a masked unit',
      { active: 'inactive', enabled: 'masked' },
      'KubeletStopped',
      'kubelet.service is stopped, and is masked: it does not start at boot either',
    ],
    [
      'a first restart',
      { sub: 'auto-restart', restarts: 1 },
      'KubeletCrashed',
      'it ended; systemd starts it again in a moment',
    ],
    [
      'restarts, with no journal that has their times',
      { sub: 'auto-restart', restarts: 3 },
      'KubeletCrashLoop',
      'it ended, and systemd starts it again and again (3 restarts so far)',
    ],
    [
      'restarts of a unit that now has failed for good',
      { restarts: 7 },
      'KubeletCrashed',
      'it failed',
    ],
    ['a unit that is active', { active: 'active' }, 'KubeletGone', 'why it ended is not known'],
  ])('%s', (_, state, reason, summary) => {
    expect(endOf(unitOf(state))).toEqual({ reason, summary });
  });
});

describe('what the journal says, where systemd cannot be asked', () => {
  test.each<[string, readonly UnitEvent[], string, string]>([
    ['an exit with an error', [exited('2')], 'KubeletCrashed', 'it exited with code 2'],
    ['an exit without one', [exited('0')], 'KubeletGone', 'why it ended is not known'],
    [
      'a signal',
      [exited('9', 'killed', 'KILL')],
      'KubeletCrashed',
      'it was ended by signal SIGKILL',
    ],
    [
      'a rare signal',
      [exited('31', 'killed', 'SYS')],
      'KubeletCrashed',
      'it was ended by signal 31 (SYS)',
    ],
    [
      'an exit that is followed by a start',
      [exited('2'), event('unit-started')],
      'KubeletGone',
      'why it ended is not known',
    ],
    [
      'a service of which systemd has given up',
      [exited('1'), event('unit-gives-up')],
      'KubeletCrashed',
      'it exited with code 1, and systemd no longer starts it again',
    ],
    [
      'the OOM killer',
      [event('unit-out-of-memory'), exited('9', 'killed', 'KILL')],
      'KubeletOutOfMemory',
      OUT_OF_MEMORY,
    ],
    ['a line of the kernel', [event('killed-for-memory')], 'KubeletOutOfMemory', OUT_OF_MEMORY],
    [
      'a unit that failed with the result oom-kill',
      [event('unit-failed', { result: 'oom-kill' })],
      'KubeletOutOfMemory',
      OUT_OF_MEMORY,
    ],
    [
      'a unit that failed with another result',
      [exited('1'), event('unit-failed', { result: 'exit-code' })],
      'KubeletCrashed',
      'it exited with code 1',
    ],
    [
      'an exit after a stop that was followed by a start',
      [event('unit-stopping'), event('unit-started'), exited('1')],
      'KubeletCrashed',
      'it exited with code 1',
    ],
    ['a stop', [event('unit-stopped')], 'KubeletStopped', 'its unit is stopped'],
    [
      'a stop on request, to which it answers with an error',
      [event('unit-stopping'), exited('1'), event('unit-stopped')],
      'KubeletStopped',
      'its unit is stopped',
    ],
    [
      'three ends within minutes',
      [exited('1'), exited('1'), exited('1'), event('unit-restarts', { count: '8' })],
      'KubeletCrashLoop',
      'it exited with code 1, and systemd starts it again and again (8 restarts so far)',
    ],
    [
      'two ends within minutes',
      [exited('1'), exited('1'), event('unit-restarts', { count: '2' })],
      'KubeletCrashed',
      'it exited with code 1',
    ],
  ])('%s', (_, events, reason, summary) => {
    expect(endOf(unitOf(undefined, events))).toEqual({ reason, summary });
  });
});

test('a start that failed after a stop on request is a crash, not a stop', () => {
  const events = [
    event('unit-stopping'),
    event('unit-stopped'),
    event('unit-failed', { result: 'exit-code' }),
  ];
  const state = { result: 'exit-code', status: '1' };
  expect(endOf(unitOf(state, events))).toEqual({
    reason: 'KubeletCrashed',
    summary: 'it exited with code 1',
  });
});

test('the times of the journal count more than the counter of systemd', () => {
  const state = { sub: 'auto-restart', result: 'exit-code', status: '1', restarts: 40 };
  expect(endOf(unitOf(state, [exited('1')]))).toEqual({
    reason: 'KubeletCrashed',
    summary: 'it exited with code 1; systemd starts it again in a moment',
  });
});

test('the larger of the two counters is named', () => {
  const state = { sub: 'auto-restart', result: 'exit-code', status: '1', restarts: 12 };
  const events = [exited('1'), exited('1'), exited('1'), event('unit-restarts', { count: '8' })];
  expect(endOf(unitOf(state, events)).summary).toContain('(12 restarts so far)');
});
