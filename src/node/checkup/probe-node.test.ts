import { expect, test } from 'vitest';
import { makeFolder, makeProc, makeProcess } from '../../../test/synthetic-kubelet.ts';
import { NodeMaker } from '../../../test/synthetic-node.ts';
import { linesIn } from '../evidence/logs/log-entries.ts';
import { type NodeReader, type ProcessEntry, ReadError } from '../model/node-reader.ts';
import type { LogPart, QuickReader } from '../model/quick-reader.ts';
import {
  PROBE_LOG_BYTES,
  PROBE_LOG_MARGIN_BYTES,
  PROBE_NEW_PLACES_MS,
  PROBE_PLACES_MS,
  PROBE_QUIET_REST_MS,
  PROBE_READER_REST_MS,
  PROBE_SEARCH_MS,
} from './limits.ts';
import { createProbe } from './probe-node.ts';

const ROOT = '22 1 254:1 / / rw - ext4 /dev/vda rw\n';
const VOLUME = `40 22 254:1 /a /var/lib/kubelet/pods/u1/volume-subpaths/c/app/0 rw - ext4 /dev/vda rw\n`;
const ERROR = (time: string, container: string) =>
  `E0102 ${time}    812 remote_runtime.go:251] "StartContainer from runtime service failed" err="no such file" containerID="${container}"\n`;
const QUIET = 'I0102 03:00:00.1    812 kubelet.go:1] "Nothing happened"\n';
const [FIRST, SECOND] = ['4f0c'.repeat(16), '9b1e'.repeat(16)];
const HEALTHZ = { scheme: 'http', address: '127.0.0.1', port: 10255, path: '/healthz' } as const;

function nodeWith(change: (maker: NodeMaker) => void = () => {}, pid = 812): NodeMaker {
  const socket = '--container-runtime-endpoint=unix:///run/containerd/containerd.sock';
  const words = ['/usr/bin/kubelet', '--read-only-port=10255', socket];
  const maker = makeProcess(makeProc(new NodeMaker(), [pid]), { pid, words });
  makeFolder(maker, `/proc/${pid}/root`, '/var/lib/kubelet');
  maker.link(`/proc/${pid}/fd/1`, '/var/log/kubelet.log');
  maker.link(`/proc/${pid}/fd/2`, '/var/log/kubelet.log');
  maker.file(`/proc/${pid}/mountinfo`, ROOT);
  setLog(maker, QUIET, pid);
  maker.set('kubelet', HEALTHZ, { answer: { status: 200, body: 'ok' } });
  change(maker);
  return maker;
}

function setLog(maker: NodeMaker, text: string, pid = 812): void {
  const log = { file: `/proc/${pid}/fd/2` };
  const question = { log, containing: [], lastBytes: PROBE_LOG_BYTES };
  maker.set('log', question, { answer: linesIn([text], {}) });
}

/** The same node by its tables and by a reader. */
function probed(reader: NodeReader) {
  const node = {
    now: () => reader.now(),
    ask: ((kind, question) => reader.ask(kind, question)) as NodeReader['ask'],
    pause: () => {},
  };
  return { tables: reader, node };
}

/** The names of the parts of the digest in which two states of a node differ. */
async function changed(before: NodeMaker, after: NodeMaker): Promise<readonly string[]> {
  const probe = createProbe({}, () => 0);
  const was = await probe(probed(before.build()));
  after.clock = new Date(before.clock.getTime() + PROBE_READER_REST_MS);
  const is = await probe(probed(after.build()));
  const isPart = is.split(' ');
  return was
    .split(' ')
    .flatMap((part, at) => (part === isPart[at] ? [] : (part.split('=')[0] ?? '')));
}

test('the digest of an unchanged node stays the same', async () => {
  expect(await changed(nodeWith(), nodeWith())).toEqual([]);
});

test.each([
  ['a mount below the root', VOLUME, ['mounts']],
  ['a mount whose source was deleted', VOLUME.replace('/a ', '/a//deleted '), ['mounts']],
  ['a mount elsewhere', '41 22 0:33 / /run/x rw - tmpfs tmpfs rw\n', []],
])('%s', async (_, line, expected) => {
  const after = nodeWith((maker) => maker.file('/proc/812/mountinfo', ROOT + line));
  expect(await changed(nodeWith(), after)).toEqual(expected);
});

test.each([
  ['an error that a fault knows', QUIET, QUIET + ERROR('03:00:01.2', FIRST), ['log']],
  ['other lines', QUIET, QUIET + QUIET.replace('Nothing', 'Something'), []],
  [
    'a repeated error',
    ERROR('03:00:01.2', FIRST),
    ERROR('03:00:01.2', FIRST) + ERROR('03:00:11.9', SECOND),
    [],
  ],
])('the log with %s', async (_, before, after, expected) => {
  const [was, is] = [before, after].map((text) => nodeWith((maker) => setLog(maker, text)));
  expect(await changed(was as NodeMaker, is as NodeMaker)).toEqual(expected);
});

test('the health of the sync loop', async () => {
  const answer = { status: 500, body: '[-]syncloop failed: reason withheld\n' };
  const sick = nodeWith((maker) => maker.set('kubelet', HEALTHZ, { answer }));
  expect(await changed(nodeWith(), sick)).toEqual(['health']);
});

test('a kubelet that was stopped by a signal', async () => {
  const stat = '812 (kubelet) T 1 812 812 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 14 0 1532 19362 1\n';
  const stopped = nodeWith((maker) => maker.file('/proc/812/stat', stat));
  expect(await changed(nodeWith(), stopped)).toEqual(['kubelet']);
});

test('a thread that waits for a path in two probes, and one that does not', async () => {
  const thread = { tid: 815, name: 'kubelet', state: 'D', waitsIn: 'rpc_wait_bit_killable' };
  const callLine = '262 0xffffffffffffff9c 0xc000d8a120';
  const call = { systemCall: 262, callName: 'newfstatat', path: '/mnt/share', callLine };
  const waiting = (line = callLine) =>
    nodeWith((maker) =>
      maker.set(
        'threads',
        { threadsOf: 812 },
        { answer: [{ ...thread, ...call, callLine: line }] },
      ),
    ).build();
  const probe = createProbe({}, () => 0);
  const digests = [
    await probe(probed(nodeWith().build())),
    await probe(probed(waiting())),
    await probe(probed(waiting('262 0xffffffffffffff9c 0xc000ffffff'))),
    await probe(probed(waiting())),
    await probe(probed(waiting())),
    await probe(probed(waiting())),
    await probe(probed(nodeWith().build())),
  ].map((digest) => digest.split('waits=')[1]);
  const [none, , , , wait] = digests;
  expect(none).toBe('none');
  expect(wait).not.toBe('none');
  expect(digests).toEqual([none, none, none, none, wait, wait, none]);
});

test('another kubelet is found, and read', async () => {
  const after = nodeWith((maker) => maker.file('/proc/900/mountinfo', ROOT + VOLUME), 900);
  after.missing('file', '/proc/812/stat');
  expect(await changed(nodeWith(), after)).toEqual(['kubelet', 'mounts']);
});

test('failed reads are part of the digest', async () => {
  const failing = nodeWith((maker) => {
    maker.set('file', { path: '/proc/812/mountinfo' }, { failure: 'timeout' });
    maker.set('kubelet', HEALTHZ, { failure: 'refused' });
  });
  expect(await changed(nodeWith(), failing)).toEqual(['mounts', 'health']);
  const nothing = new NodeMaker().set('folder', { path: '/proc' }, { failure: 'denied' });
  expect(await createProbe({}, () => 0)(probed(nothing.build()))).toBe('kubelet=denied');
});

/** A node whose reader is counted, from one probe to the next. */
function countedNode(quick?: QuickReader) {
  const maker = nodeWith();
  const probe = createProbe({}, () => 0);
  const asked: string[] = [];
  let current = maker;
  const node: NodeReader = {
    now: () => maker.clock,
    ask: (kind, question) => current.build().ask(kind, question),
  };
  const reader = {
    ...probed(node).node,
    ask: ((kind, question) => {
      asked.push(kind);
      return node.ask(kind, question);
    }) as NodeReader['ask'],
    pause: () => void asked.push('pause'),
  };
  return {
    become: (next: NodeMaker) => {
      current = next;
    },
    /** The digest, and what the reader was asked. */
    probeAfter: async (ms: number, checkedAgoMs?: number) => {
      asked.length = 0;
      maker.clock = new Date(maker.clock.getTime() + ms);
      const checked =
        checkedAgoMs === undefined ? {} : { checkedMs: maker.clock.getTime() - checkedAgoMs };
      const digest = await probe({ tables: node, node: reader, quick, ...checked });
      return { digest, asked: asked.toSorted() };
    },
  };
}

const PROCESS: Omit<ProcessEntry, 'pid' | 'name'> = {
  ...{ parent: 1, state: 'S', startTime: '100', cgroups: [], mountNamespace: null },
};

const grown = (length: number) =>
  nodeWith((maker) => maker.file('/proc/812/fdinfo/2', `pos:\t${length}\nflags:\t02101\n`));

test('a reader starts when the log has grown, and not while the tables stay the same', async () => {
  const { become, probeAfter } = countedNode();
  become(grown(100));
  const first = await probeAfter(0);
  expect(first.asked).toContain('pause');
  expect(await probeAfter(2000)).toEqual({ digest: first.digest, asked: [] });
  become(grown(200));
  expect(await probeAfter(2000)).toEqual({
    digest: first.digest,
    asked: ['kubelet', 'log', 'pause'],
  });
  expect(await probeAfter(2000)).toEqual({ digest: first.digest, asked: [] });
});

test('a log that grows all the time starts few readers', async () => {
  const { become, probeAfter } = countedNode();
  let readers = 0;
  for (let pos = 0; pos < 300; pos += 1) {
    become(grown(pos));
    if ((await probeAfter(2000)).asked.length > 0) readers += 1;
  }
  expect(readers).toBeGreaterThan(20);
  expect(readers).toBeLessThan(30);
});

test('if the tables do not show whether the log grows, a reader starts now and then', async () => {
  const { probeAfter } = countedNode();
  await probeAfter(0);
  expect((await probeAfter(PROBE_READER_REST_MS - 1)).asked).toEqual([]);
  expect((await probeAfter(1)).asked).toEqual(['kubelet', 'log', 'pause']);
  // The check has just read the same.
  expect((await probeAfter(PROBE_READER_REST_MS, 1)).asked).toEqual([]);
  expect((await probeAfter(0, PROBE_READER_REST_MS)).asked).toContain('log');
});

test('the quick reader reads what is new in a log that grows all the time', async () => {
  let text: string | undefined = QUIET;
  const asked: LogPart[] = [];
  const { become, probeAfter } = countedNode({
    ask: async ({ names, files, logs }) => {
      asked.push(...logs);
      const none = [...names, ...files].map(() => '');
      return text === undefined ? undefined : { names: none, files: none, logs: [text] };
    },
  });
  become(grown(100));
  const first = await probeAfter(0, 0);
  become(grown(200));
  expect(await probeAfter(2000, 0)).toEqual({ digest: first.digest, asked: [] });
  text = ERROR('03:00:01.2', FIRST);
  become(grown(300));
  const next = await probeAfter(2000, 0);
  expect(next.asked).toEqual([]);
  expect(next.digest).not.toBe(first.digest);
  // A repeated error, in a file that was emptied.
  text = ERROR('03:00:11.9', SECOND);
  become(grown(50));
  expect(await probeAfter(2000, 0)).toEqual({ digest: next.digest, asked: [] });
  // What is before a line that begins in the part that is read.
  text = `${ERROR('03:00:13.1', SECOND)
    .slice(9)
    .padStart(100 + PROBE_LOG_MARGIN_BYTES)}${QUIET}`;
  become(grown(150));
  expect(await probeAfter(2000, 0)).toEqual({ digest: next.digest, asked: [] });
  const lengths = [100, 100, 50, 100].map((bytes) => bytes + PROBE_LOG_MARGIN_BYTES);
  expect(asked).toEqual(lengths.map((lastBytes) => ({ path: '/proc/812/fd/2', lastBytes })));
  // Without an answer, or with nothing of what was written, a reader reads it.
  for (const [unread, length] of [[undefined, 400] as const, ['', 500] as const]) {
    text = unread;
    become(grown(length));
    expect((await probeAfter(PROBE_READER_REST_MS, 0)).asked).toContain('log');
  }
});

test('a reader starts when the process has run that writes the journal with the log', async () => {
  const { become, probeAfter } = countedNode();
  const journal = (runs: number) =>
    nodeWith((maker) => {
      for (const descriptor of [1, 2]) maker.link(`/proc/812/fd/${descriptor}`, 'socket:[4711]');
      maker.set(
        'processes',
        { all: 'processes' },
        { answer: [{ ...PROCESS, pid: 300, name: 'systemd-journal' }] },
      );
      maker.file('/proc/300/schedstat', `812345678 90123 ${runs}\n`);
    });
  become(journal(10));
  await probeAfter(0);
  expect((await probeAfter(PROBE_QUIET_REST_MS - 1)).asked).toEqual([]);
  become(journal(11));
  expect((await probeAfter(2000)).asked).toContain('log');
  expect((await probeAfter(2000)).asked).toEqual([]);
  become(journal(11).missing('file', '/proc/300/schedstat'));
  await probeAfter(2000);
  expect((await probeAfter(PROBE_READER_REST_MS)).asked).toContain('log');
});

test('while the log does not grow, few readers start', async () => {
  const { become, probeAfter } = countedNode();
  become(grown(100));
  await probeAfter(0);
  expect((await probeAfter(PROBE_QUIET_REST_MS - 1)).asked).toEqual([]);
  become(grown(101));
  expect((await probeAfter(0)).asked).toContain('log');
  // The health may have changed.
  expect((await probeAfter(PROBE_QUIET_REST_MS)).asked).toContain('kubelet');
});

test('tables alone show a changed mount', async () => {
  const { become, probeAfter } = countedNode();
  const { digest } = await probeAfter(0);
  become(nodeWith((maker) => maker.file('/proc/812/mountinfo', ROOT + VOLUME)));
  const next = await probeAfter(2000);
  expect(next.asked).toEqual([]);
  expect(next.digest).not.toBe(digest);
});

test('tables alone show a kubelet that is gone; a reader finds the next one', async () => {
  const { become, probeAfter } = countedNode();
  await probeAfter(0);
  const next = nodeWith(() => {}, 900).missing('file', '/proc/812/stat');
  next.file('/proc/1/mountinfo', ROOT);
  become(next);
  const gone = await probeAfter(2000);
  expect(gone.asked).toEqual([]);
  expect(gone.digest).toMatch(/^kubelet=gone /);
  const found = await probeAfter(PROBE_SEARCH_MS - 2000);
  expect(found.digest).toMatch(/^kubelet=900\//);
  expect(found.asked).toContain('folder');
});

/** A node with a container runtime in this state of a process. */
function withRuntime(pid: number, state = 'S') {
  return nodeWith((maker) => {
    const runtime = { ...PROCESS, pid, name: 'containerd', startTime: '400' };
    maker.set('processes', { all: 'processes' }, { answer: [runtime] });
    const stat = `${pid} (containerd) ${state} 1 1 1 0 -1 0 1 2 3 4 5 6 7 8 20 0 9 0 400 19362 1\n`;
    maker.file(`/proc/${pid}/stat`, stat);
    maker.file('/proc/812/fdinfo/2', 'pos:\t100\nflags:\t02101\n');
  });
}

test('tables alone show a runtime that was stopped, and one that is gone', async () => {
  const { become, probeAfter } = countedNode();
  become(withRuntime(700));
  const { digest } = await probeAfter(0);
  expect(digest).toMatch(/ runtime=700\/400 /);
  become(withRuntime(700, 'T'));
  expect(await probeAfter(2000)).toMatchObject({
    digest: expect.stringContaining(' runtime=700/400T '),
    asked: [],
  });
  become(withRuntime(700).missing('file', '/proc/700/stat'));
  expect(await probeAfter(2000)).toMatchObject({
    digest: expect.stringContaining(' runtime=gone '),
    asked: [],
  });
  // The next one has another pid.
  become(withRuntime(701).missing('file', '/proc/700/stat'));
  expect((await probeAfter(PROBE_READER_REST_MS)).digest).toMatch(/ runtime=701\/400 /);
});

test('where to read is found again only after a while', async () => {
  const { probeAfter } = countedNode();
  await probeAfter(0);
  expect((await probeAfter(PROBE_PLACES_MS - 1)).asked).not.toContain('folder');
  expect((await probeAfter(PROBE_PLACES_MS)).asked).toContain('folder');
});

test('as long as no page shows the health of the kubelet, the search comes again sooner', async () => {
  const { become, probeAfter } = countedNode();
  become(nodeWith((maker) => maker.set('kubelet', HEALTHZ, { failure: 'refused' })));
  await probeAfter(0);
  expect((await probeAfter(PROBE_NEW_PLACES_MS - 1)).asked).not.toContain('folder');
  expect((await probeAfter(PROBE_NEW_PLACES_MS)).asked).toContain('folder');
});

test('an error that is not a failed read is a bug', async () => {
  const broken = { now: () => new Date(), ask: () => Promise.reject(new TypeError('bug')) };
  await expect(createProbe({}, () => 0)(probed(broken))).rejects.toThrow('bug');
  const failing = { ...broken, ask: () => Promise.reject(new ReadError('failed', '/proc')) };
  expect(await createProbe({}, () => 0)(probed(failing))).toBe('kubelet=failed');
});
