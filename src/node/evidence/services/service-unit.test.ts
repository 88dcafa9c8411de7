import { describe, expect, test } from 'vitest';
import { NodeMaker } from '../../../../test/synthetic-node.ts';
import { addUnit, NOW, type StoppedWorker } from '../../../../test/synthetic-stopped-worker.ts';
import { takeSnapshot } from '../../checkup/take-snapshot.ts';
import { serviceUnit } from './service-unit.ts';

const UNITS = ['kubelet.service', 'k3s.service'];
const LOADED = { Id: 'kubelet.service', LoadState: 'loaded', ActiveState: 'failed' };

function makerOf(created: StoppedWorker): NodeMaker {
  const maker = new NodeMaker();
  maker.clock = new Date(NOW);
  addUnit(maker, UNITS, ['kubelet'], created);
  return maker;
}

const unitOn = (maker: NodeMaker) =>
  serviceUnit(takeSnapshot(maker.build()), { units: UNITS, programs: ['kubelet'], files: [] });

/** The same node with this output of systemctl. */
function printing(text: string): NodeMaker {
  const maker = makerOf({ unit: LOADED });
  const key = [...maker.answers.keys()].find((one) => one.startsWith('["version"'));
  if (key === undefined) throw new Error('systemctl is not asked');
  maker.answers.set(key, { answer: text });
  return maker;
}

const block = (id: string, load: string, active: string) =>
  `Id=${id}\nLoadState=${load}\nActiveState=${active}\nSubState=dead\nNRestarts=2\n`;

describe('the state from systemd', () => {
  test('prefers the unit that is active or changing, in any order', async () => {
    const blocks = [
      block('kubelet.service', 'loaded', 'inactive'),
      block('k3s.service', 'loaded', 'failed'),
    ];
    for (const order of [blocks, blocks.toReversed()]) {
      const { state, hasNoUnit } = await unitOn(printing(`\n${order.join('\n')}\n`));
      expect(state).toMatchObject({ unit: 'k3s.service', active: 'failed', restarts: 2 });
      expect(hasNoUnit).toBe(false);
    }
  });

  test('of two inactive units, the first counts', async () => {
    const text = UNITS.map((id) => block(id, 'loaded', 'inactive')).join('\n');
    expect((await unitOn(printing(text))).state?.unit).toBe('kubelet.service');
  });

  test('a masked unit exists', async () => {
    const { state } = await unitOn(printing(block('kubelet.service', 'masked', 'inactive')));
    expect(state).toMatchObject({ unit: 'kubelet.service', enabled: 'masked' });
  });

  test('has what the report says of the unit', async () => {
    const lines = [
      ...['Id=kubelet.service', 'LoadState=loaded', 'ActiveState=failed', 'SubState=failed'],
      ...['Result=exit-code', 'ExecMainStatus=203', 'UnitFileState=disabled', 'Job=1234'],
      'StateChangeTimestamp=Sat 2026-04-04 16:38:12 UTC',
    ];
    expect((await unitOn(printing(`${lines.join('\n')}\n`))).state).toEqual({
      ...{ unit: 'kubelet.service', active: 'failed', sub: 'failed', result: 'exit-code' },
      ...{ status: '203', restarts: 0, enabled: 'disabled', hasJob: true },
      since: 'Sat 2026-04-04 16:38:12 UTC',
      text: lines.join(' '),
      origin: { command: 'systemctl show kubelet.service' },
    });
  });

  test('a unit that is not found does not exist', async () => {
    const unit = await unitOn(printing(block('kubelet.service', 'not-found', 'inactive')));
    expect(unit).toMatchObject({ hasNoUnit: true });
    expect(unit.state).toBeUndefined();
  });

  test.each([
    ['nothing', ''],
    ['an error', 'Failed to connect to bus: No such file or directory\n'],
    ['no name', 'Id=\nLoadState=loaded\nActiveState=failed\n'],
    ['no state of its file', 'Id=kubelet.service\nActiveState=failed\n'],
    ['no state', 'Id=kubelet.service\nLoadState=loaded\n'],
    ['a state that does not exist', block('kubelet.service', 'loaded', 'sleeping')],
    ['one unit, and then an error', `${block('a.service', 'loaded', 'active')}\nerror\n`],
  ])('%s is malformed', async (_, text) => {
    const { state, hasNoUnit, unasked } = await unitOn(printing(text));
    expect(state).toBeUndefined();
    expect(hasNoUnit).toBe(false);
    expect(unasked?.why).toContain('it does not say the state of the units');
    expect(unasked?.isMissing).toBe(false);
  });

  test('a node without systemctl differs from one whose systemctl fails', async () => {
    const { unasked } = await unitOn(makerOf({ unit: null }));
    expect(unasked?.isMissing).toBe(true);
  });
});

describe('the events in the journal', () => {
  const line = (time: string, who: string, text: string) =>
    `2026-04-04T${time}+0000 worker-7 ${who}: ${text}`;
  const systemd = (time: string, text: string) => line(time, 'systemd[1]', text);
  const events = async (journal: readonly string[], kernel: readonly string[] = []) =>
    (await unitOn(makerOf({ unit: LOADED, journal, kernel }))).events.map(({ what }) => what);

  test('lines of the kernel and of systemd are in the order of their times', async () => {
    const journal = [
      systemd('16:30:00', 'Started kubelet: The Kubernetes Node Agent.'),
      systemd('16:38:12', 'kubelet.service: Main process exited, code=killed, status=9/KILL'),
    ];
    const kernel = [
      line('16:38:11', 'kernel', 'Out of memory: Killed process 812 (kubelet) total-vm:1kB'),
    ];
    expect(await events(journal, kernel)).toEqual([
      'unit-started',
      'killed-for-memory',
      'unit-exited',
    ]);
  });

  test('ignores another program that was killed', async () => {
    const kernel = [
      line('16:38:11', 'kernel', 'Out of memory: Killed process 990 (java) total-vm:1kB'),
    ];
    expect(await events([], kernel)).toEqual([]);
  });

  test('ignores another unit', async () => {
    const other = 'containerd.service: Main process exited, code=exited, status=1/FAILURE';
    expect(await events([systemd('16:38:12', other)])).toEqual([]);
  });

  test('a start that the service itself reports is not its own start', async () => {
    const text = 'Started kubelet: The Kubernetes Node Agent.';
    expect(await events([line('16:38:12', 'kubelet[812]', text)])).toEqual([]);
    expect(await events([systemd('16:38:12', text)])).toEqual(['unit-started']);
  });
});
