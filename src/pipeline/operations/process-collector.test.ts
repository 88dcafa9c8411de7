import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import { readerCommand } from '../../../test/reader-command.ts';
import { hostOn } from '../../../test/synthetic-host.ts';
import { NodeMaker } from '../../../test/synthetic-node.ts';
import type { NodeReader, ProcessEntry } from '../../node/model/node-reader.ts';
import { LiveNode } from '../../node/reader/live-node.ts';
import type { OperationResult } from '../steps/operation-result.ts';
import { processCollector } from './process-collector.ts';

const on = (node: NodeReader) => processCollector.run({}, hostOn(node));

function listIn(result: OperationResult): readonly Record<string, unknown>[] {
  expect(result).toMatchObject({ succeeded: true });
  return JSON.parse(result.results?.['collector.system.process.list'] ?? '') as [];
}

const entry = (pid: number, more: Partial<ProcessEntry> = {}): ProcessEntry => ({
  pid,
  parent: 1,
  name: 'app',
  state: 'S',
  startTime: '1500',
  cgroups: [],
  mountNamespace: null,
  ...more,
});

function syntheticNode(entries: readonly ProcessEntry[]): NodeMaker {
  return new NodeMaker()
    .set('processes', { all: 'processes' }, { answer: entries })
    .file('/proc/uptime', '65.00 100.00\n');
}

const stat = (pid: number) =>
  `${pid} (a) b) S 1 7 7 0 -1 4194560 1 0 0 0 300 200 0 0 30 10 14 0 1500 1 1\n`;
const STATUS = `Name:\tapp\nVmSize:\t  20 kB\nVmLck:\t 0 kB\nVmHWM:\t 12 kB\nVmRSS:\t 10 kB\nVmData:\t 3 kB\nVmStk:\t 4 kB\nVmSwap:\t 5 kB\n`;

test('a process is listed as in upstream KubeDiag, and no secret of its command line is', async () => {
  const node = syntheticNode([entry(7)])
    .file('/proc/7/stat', stat(7))
    .file('/proc/7/status', STATUS)
    .file('/proc/7/cmdline', '/bin/app\0--token\0hunter2\0--db=mysql://me:hunter2@db/x\0-v\0');
  const result = await on(node.build());
  expect(JSON.stringify(result)).not.toContain('hunter2');
  expect(listIn(result)).toEqual([
    {
      pid: 7,
      ppid: 1,
      tgid: 7,
      command: ['/bin/app', '--token', '<redacted>', expect.stringContaining('@db'), '-v'],
      status: 'S',
      createTime: '2026-01-02T03:03:15.000Z',
      cpuPercent: 10,
      nice: 10,
      memoryInfo: {
        rss: 10_240,
        vms: 20_480,
        hwm: 12_288,
        data: 3_072,
        stack: 4_096,
        locked: 0,
        swap: 5_120,
      },
    },
  ]);
});

test('one that has ended is left out, and of one that hangs no memory is asked', async () => {
  const node = syntheticNode([entry(7), entry(8, { state: 'D', name: 'stuck' })])
    .missing('file', '/proc/7/stat')
    .missing('file', '/proc/7/status')
    .missing('file', '/proc/7/cmdline')
    .file('/proc/8/stat', stat(8))
    .file('/proc/8/status', 'Name:\tstuck\n');
  expect(listIn(await on(node.build()))).toMatchObject([
    { pid: 8, status: 'D', command: ['[stuck]'], memoryInfo: { rss: 0 } },
  ]);
});

test('a read that fails is no empty list', async () => {
  const node = syntheticNode([entry(7)]).set(
    'file',
    { path: '/proc/7/stat' },
    { failure: 'denied' },
  );
  expect(await on(node.build())).toMatchObject({ succeeded: false });
});

test('on this machine it lists a process that we start', { timeout: 30_000 }, async () => {
  const child = spawn('sleep', ['60'], { stdio: 'ignore' });
  const node = new LiveNode(readerCommand, { hostRoot: '/' });
  try {
    const list = listIn(await on(node));
    const found = list.find(({ pid }) => pid === child.pid);
    expect(found).toMatchObject({ ppid: process.pid, command: ['sleep', '60'], nice: 0 });
    expect(Math.abs(Date.parse(String(found?.createTime)) - Date.now())).toBeLessThan(60_000);
    expect(found?.memoryInfo).toMatchObject({ rss: expect.any(Number) });
  } finally {
    node.close();
    child.kill('SIGKILL');
  }
});
