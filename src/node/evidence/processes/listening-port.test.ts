import { describe, expect, test } from 'vitest';
import { NodeMaker } from '../../../../test/synthetic-node.ts';
import { process } from '../../../../test/synthetic-stopped-worker.ts';
import { takeSnapshot } from '../../checkup/take-snapshot.ts';
import { isServing, listensOn } from './listening-port.ts';

const HEAD = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid';
const socket = (address: string, state: string) =>
  `   0: ${address} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000  1883  0 51327 1`;

test.each([
  ['IPv4', '00000000:075B', '0A', true],
  ['IPv6', '00000000000000000000000000000000:075B', '0A', true],
  ['another port', '00000000:0016', '0A', false],
  ['a connection', '0100007F:075B', '01', false],
])('%s', (_, address, state, expected) => {
  expect(listensOn(`${HEAD}\n${socket(address, state)}\n`, 1883)).toBe(expected);
});

describe('a container with a broker', () => {
  const ID = '4f0c2a9e';
  const node = (tables: Readonly<Record<string, string>>, cgroup = `/kubepods/pod1/${ID}`) => {
    const maker = new NodeMaker();
    const all = [process(1, 'systemd', '/init.scope'), process(990, 'mosquitto', cgroup)];
    maker.set('processes', { all: 'processes' }, { answer: all });
    for (const [name, text] of Object.entries(tables)) maker.file(`/proc/990/net/${name}`, text);
    return takeSnapshot(maker.build());
  };
  const LISTENS = socket('00000000:075B', '0A');

  test('listens in the network namespace of its process', async () => {
    expect(await isServing(node({ tcp: LISTENS, tcp6: HEAD }), ID)).toBe(true);
    expect(await isServing(node({ tcp: HEAD, tcp6: LISTENS }), ID)).toBe(true);
  });

  test('does not if no process listens, a read fails, or the container has no process', async () => {
    expect(await isServing(node({ tcp: HEAD, tcp6: HEAD }), ID)).toBe(false);
    expect(await isServing(node({}), ID)).toBe(false);
    expect(await isServing(node({ tcp: LISTENS }, '/kubepods/pod1/other'), ID)).toBe(false);
    expect(await isServing(takeSnapshot(new NodeMaker().build()), ID)).toBe(false);
  });
});
