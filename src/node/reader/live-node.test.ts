import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readerCommand } from '../../../test/reader-command.ts';
import { listenAt } from '../../../test/rig/socket-servers.ts';
import type { ReadError } from '../model/node-reader.ts';
import {
  PATIENT_MS,
  QUESTION_MS,
  READER_CACHED_MS,
  READERS_DEAD_MAX,
  TABLES_IN_LINE_MAX,
} from './limits.ts';
import { LiveNode } from './live-node.ts';
import type { OwnCommand } from './reader-process.ts';
import { frameOf } from './reader-protocol.ts';

const scratch = mkdtempSync(join(tmpdir(), 'kubediag-live-'));
const at = (name: string) => join(scratch, name);
const plain = { path: at('plain') };
const slow = { program: at('slow'), arguments: [] };

beforeAll(() => {
  writeFileSync(at('plain'), 'healthy\n');
  writeFileSync(at('slow'), '#!/bin/sh\nsleep 20\n');
  chmodSync(at('slow'), 0o755);
});
afterAll(() => rmSync(scratch, { recursive: true }));

/** Notes each start of a reader in a file, with its process id. */
function noted(log: string, { program, arguments: args }: OwnCommand): OwnCommand {
  const script = 'echo $$ >> "$1"; shift; exec "$@"';
  return { program: '/bin/sh', arguments: ['-c', script, 'sh', at(log), program, ...args] };
}

function startsIn(log: string): readonly number[] {
  if (!existsSync(at(log))) return [];
  return readFileSync(at(log), 'utf8').trim().split('\n').map(Number);
}

function isAlive(pid: number): boolean {
  return existsSync(`/proc/${pid}`);
}

/** A reader that behaves as the test wants; `say(header)` writes a frame, `asked` is each header. */
function syntheticReader(body: string): OwnCommand {
  const protocol = join(import.meta.dirname, 'reader-protocol.ts');
  const code = `
    import { writeSync } from 'node:fs';
    import { FrameParser, frameOf } from ${JSON.stringify(protocol)};
    const parser = new FrameParser();
    const say = (header) => writeSync(1, frameOf(header));
    process.stdin.on('data', (chunk) => {
      for (const { header: asked } of parser.push(chunk)) { ${body} }
    });`;
  return { program: process.execPath, arguments: ['--input-type=module', '-e', code] };
}

async function withNode(command: OwnCommand, use: (node: LiveNode) => Promise<void>) {
  const node = new LiveNode(command, { hostRoot: '/' });
  try {
    await use(node);
  } finally {
    node.close();
  }
}

test.each([
  [{ path: '/mnt/share' }, 0, QUESTION_MS.status],
  // Who asks for the second time has waited before.
  [{ path: '/mnt/share', patience: 'long' }, QUESTION_MS.status, QUESTION_MS.status + PATIENT_MS],
] as const)(
  'what is waited for is known, and how long it may take: %j',
  async (asked, least, limitMs) => {
    const begins = `if (asked.say === 'ask') say({ say: 'begin', id: asked.id }); else say({ say: 'ready' });`;
    await withNode(syntheticReader(begins), async (node) => {
      expect(node.longestWait).toBeUndefined();
      const ended = Promise.allSettled([node.ask('status', asked)]);
      await expect.poll(() => node.longestWait).toMatchObject({ source: '/mnt/share', limitMs });
      expect(node.longestWait?.waitedMs).toBeGreaterThanOrEqual(least);
      node.endCheck('the test is over');
      await ended;
      expect(node.longestWait).toBeUndefined();
    });
  },
);

describe('a reader that dies', () => {
  test('takes the question it worked on with it, and the others are answered', async () => {
    await withNode(noted('killed', readerCommand), async (node) => {
      expect(await node.ask('file', plain)).toBe('healthy\n');
      const lost = node.ask('version', slow);
      const ended = Promise.allSettled([lost]);
      expect(await node.ask('file', plain)).toBe('healthy\n');
      const [first = 0] = startsIn('killed');
      process.kill(first, 'SIGKILL');
      // Asked of the dead one, because nobody knows yet.
      const others = [node.ask('file', plain), node.ask('file', plain)];
      expect(await Promise.all(others)).toEqual(['healthy\n', 'healthy\n']);
      expect(await ended).toMatchObject([
        { reason: { failure: 'failed', detail: expect.stringContaining('SIGKILL') } },
      ]);
      expect(startsIn('killed')).toHaveLength(2);
      expect(node.abandoned).toEqual([]);
    });
  });

  test('at once, every time, is given up after a few', async () => {
    await withNode(noted('dead', { program: '/bin/false', arguments: [] }), async (node) => {
      const asked = [node.ask('file', plain), node.ask('status', plain)];
      for (const result of await Promise.allSettled(asked)) {
        expect(result).toMatchObject({ status: 'rejected', reason: { failure: 'failed' } });
      }
      await expect(node.ask('file', plain)).rejects.toMatchObject({ failure: 'failed' });
      expect(startsIn('dead')).toHaveLength(READERS_DEAD_MAX);
      // The next check of a node that stays open tries again.
      node.close();
      await expect(node.ask('file', plain)).rejects.toMatchObject({ failure: 'failed' });
      expect(startsIn('dead').length).toBeGreaterThan(READERS_DEAD_MAX);
    });
  });

  test('while idle is replaced without a word', async () => {
    await withNode(noted('idle', readerCommand), async (node) => {
      await node.ask('file', plain);
      process.kill(startsIn('idle')[0] ?? 0, 'SIGKILL');
      await sleep(50);
      expect(await node.ask('file', plain)).toBe('healthy\n');
    });
  });
});

describe('a reader without work', () => {
  test('waits a moment for the next check of the same node', async () => {
    const command = noted('cached', readerCommand);
    const answerOf = (hostRoot: string) => {
      const node = new LiveNode(command, { hostRoot });
      return node.ask('file', plain).finally(() => node.pause());
    };
    await answerOf('/');
    await answerOf('/');
    expect(startsIn('cached')).toHaveLength(1);
    const [first = 0] = startsIn('cached');
    await expect.poll(() => isAlive(first), { timeout: READER_CACHED_MS + 10_000 }).toBe(false);
    await answerOf('/');
    expect(startsIn('cached')).toHaveLength(2);
    await answerOf('/proc/self/root');
    expect(startsIn('cached')).toHaveLength(3);
  });

  test('remembers nothing of the previous check', async () => {
    // It takes the connection, and never says a word.
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const page = { scheme: 'https', address: '127.0.0.1', port, path: '/healthz' } as const;
    const command = noted('forgetful', readerCommand);
    const answerOf = () =>
      withNode(command, async (node) => {
        const why = () =>
          node.ask('kubelet', page).then(
            () => 'answered',
            ({ detail, failure }: ReadError) => detail ?? failure,
          );
        expect(await why()).toBe('timeout');
        expect(await why()).toContain('a moment ago');
        node.pause();
      });
    await answerOf();
    await answerOf();
    expect(startsIn('forgetful')).toHaveLength(1);
    silent.close();
  });

  test('is killed when we end, and need not notice it by itself', async () => {
    const command = noted('ended', readerCommand);
    const code = `
      import { LiveNode } from ${JSON.stringify(join(import.meta.dirname, 'live-node.ts'))};
      const node = new LiveNode(${JSON.stringify(command)}, { hostRoot: '/' });
      await node.ask('file', ${JSON.stringify(plain)});
      node.pause();`;
    const args = ['--no-warnings', '--input-type=module', '-e', code];
    await once(spawn(process.execPath, args, { stdio: 'ignore' }), 'exit');
    const [reader = 0] = startsIn('ended');
    expect(reader).toBeGreaterThan(0);
    expect(isAlive(reader) ? readFileSync(`/proc/${reader}/status`, 'utf8') : 'gone').toMatch(
      /gone|State:\s+[ZX]|ShdPnd:\s+\w*1\w\w\n/,
    );
  });

  test('that ends meanwhile is replaced without a word', async () => {
    const command = noted('kept-and-killed', readerCommand);
    await withNode(command, async (node) => {
      await node.ask('file', plain);
      node.pause();
    });
    const [first = 0] = startsIn('kept-and-killed');
    process.kill(first, 'SIGKILL');
    await withNode(command, async (node) => {
      expect(await node.ask('file', plain)).toBe('healthy\n');
    });
  });
});

describe('many mount tables at once', () => {
  const ours = { path: '/proc/self/mountinfo' };
  const many = (node: LiveNode, count: number) =>
    Promise.all(Array.from({ length: count }, () => node.ask('file', ours)));

  test('are shared by two readers, and few are not', async () => {
    await withNode(noted('shared', readerCommand), async (node) => {
      await many(node, TABLES_IN_LINE_MAX);
      expect(startsIn('shared')).toHaveLength(1);
      const tables = await many(node, 3 * TABLES_IN_LINE_MAX);
      expect(startsIn('shared')).toHaveLength(2);
      expect(new Set(tables).size).toBe(1);
      expect(tables[0]).toContain(' / ');
    });
    const left = () => startsIn('shared').filter(isAlive);
    await expect.poll(left, { timeout: READER_CACHED_MS + 10_000 }).toEqual([]);
  });

  test('are all answered when the second reader has died since it was asked last', async () => {
    await withNode(noted('one of two', readerCommand), async (node) => {
      await many(node, 2 * TABLES_IN_LINE_MAX);
      process.kill(startsIn('one of two')[1] ?? 0, 'SIGKILL');
      expect(await many(node, 2 * TABLES_IN_LINE_MAX)).toHaveLength(2 * TABLES_IN_LINE_MAX);
    });
  });
});

describe('a reader that was let go while it waited', () => {
  test('for a runtime that does not answer is gone a moment later, and is not reported', async () => {
    const stop = await listenAt(at('mute.sock'), () => {});
    const node = new LiveNode(noted('let go', readerCommand), { hostRoot: '/' });
    const asked = node.ask('runtime', { socket: at('mute.sock'), call: 'Version' });
    const ended = Promise.allSettled([asked]);
    await sleep(2_000);
    node.close();
    const [pid = 0] = startsIn('let go');
    // It was just killed, and may not have died yet.
    expect(node.abandoned).toMatchObject([{ pid }]);
    expect(await node.leftBehind()).toEqual([]);
    expect(isAlive(pid)).toBe(false);
    expect(await ended).toMatchObject([{ status: 'rejected' }]);
    stop();
  });
});

describe('a reader that cannot be', () => {
  test.each([
    ['is missing', '/nowhere/kubediag'],
    ['is no program', '/etc/passwd'],
    ['has an impossible name', '/bin/true\0'],
  ])('because its program %s, is a failure and no crash', async (_, program) => {
    await withNode({ program, arguments: [] }, async (node) => {
      await expect(node.ask('file', plain)).rejects.toMatchObject({ failure: 'failed' });
    });
  });

  test('because no file descriptor is left, is a failure and no crash', async () => {
    const code = `
      const { openSync } = await import('node:fs');
      const { LiveNode } = await import(${JSON.stringify(join(import.meta.dirname, 'live-node.ts'))});
      try { for (;;) openSync('/dev/null'); } catch {}
      const node = new LiveNode({ program: '/bin/cat', arguments: [] }, { hostRoot: '/' });
      await node.ask('file', { path: '/' }).catch(({ failure }) => console.log(failure));`;
    const script = 'ulimit -n 64; exec "$@"';
    const node = [process.execPath, '--input-type=module', '-e', code];
    const child = spawn('/bin/sh', ['-c', script, 'sh', ...node], { stdio: 'pipe' });
    const exit = once(child, 'exit');
    const [output] = (await once(child.stdout, 'data')) as [Buffer];
    expect(output.toString()).toBe('failed\n');
    expect(await exit).toEqual([0, null]);
  });

  test('because another program answers, is a failure and no crash', async () => {
    const command = { program: '/bin/sh', arguments: ['-c', 'echo usage: kubediag; sleep 9'] };
    await withNode(command, async (node) => {
      await expect(node.ask('file', plain)).rejects.toMatchObject({ failure: 'failed' });
    });
  });

  test('because its words are no protocol, is a failure and no crash', async () => {
    const bytes = frameOf({ say: 'ready' }).fill('{', 8);
    const script = `printf '${[...bytes].map((byte) => `\\${byte.toString(8)}`).join('')}'; sleep 9`;
    await withNode({ program: '/bin/sh', arguments: ['-c', script] }, async (node) => {
      await expect(node.ask('file', plain)).rejects.toMatchObject({ failure: 'failed' });
    });
  });
});

describe('a question', () => {
  test('is not late because we are', async () => {
    const reader = syntheticReader(`
      if (asked.say === 'settings') { say({ say: 'ready' }); continue; }
      say({ say: 'begin', id: asked.id });
      setTimeout(() => say({ say: 'answer', id: asked.id, value: 'in time' }), 500);`);
    await withNode(reader, async (node) => {
      const asked = node.ask('link', plain);
      await sleep(300); // It has begun, and its clock runs.
      const busyUntil = performance.now() + QUESTION_MS.link;
      while (performance.now() < busyUntil);
      expect(await asked).toBe('in time');
    });
  });

  test('behind a slow one is answered by another reader, and the slow one too', async () => {
    const reader = syntheticReader(`
      if (asked.say === 'settings') { say({ say: 'ready' }); continue; }
      say({ say: 'begin', id: asked.id });
      if (asked.question.path === '/slow') {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
      }
      say({ say: 'answer', id: asked.id, value: String(process.pid) });`);
    await withNode(reader, async (node) => {
      const slowOne = node.ask('link', { path: '/slow' });
      const behind = node.ask('link', { path: '/quick' });
      const first = await Promise.race([slowOne.then(() => 'slow'), behind.then(() => 'quick')]);
      expect(first).toBe('quick');
      expect(await behind).not.toBe(await slowOne);
      // The second one stays, and the slow one is let go.
      expect(await node.ask('link', { path: '/slow' })).toBe(await behind);
    });
  });

  test('behind a busy one waits for it, for another reader would make the node busier', async () => {
    const reader = syntheticReader(`
      if (asked.say === 'settings') { say({ say: 'ready' }); continue; }
      say({ say: 'begin', id: asked.id });
      const until = performance.now() + (asked.question.path === '/busy' ? 1000 : 0);
      while (performance.now() < until);
      say({ say: 'answer', id: asked.id, value: String(process.pid) });`);
    await withNode(reader, async (node) => {
      const busy = node.ask('link', { path: '/busy' });
      expect(await node.ask('link', { path: '/quick' })).toBe(await busy);
    });
  });

  test('that waits when the node is closed is answered', async () => {
    const node = new LiveNode(readerCommand, { hostRoot: '/' });
    const asked = [node.ask('version', slow), node.ask('file', plain)];
    node.close();
    for (const result of await Promise.allSettled(asked)) {
      expect(result).toMatchObject({ reason: { failure: 'failed' } });
    }
    expect(await node.ask('file', plain)).toBe('healthy\n');
    node.close();
  });
});

test('a reader ends with its input, whatever it waits for', async () => {
  const stop = await listenAt(at('silent.sock'), () => {});
  const { program, arguments: args } = readerCommand;
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const question = { socket: at('silent.sock'), call: 'Version' } as const;
  child.stdin.write(frameOf({ say: 'settings', settings: { hostRoot: '/' } }));
  child.stdin.write(frameOf({ say: 'ask', id: 1, kind: 'runtime', question }));
  await once(child.stdout, 'data');
  await sleep(300);
  const begun = performance.now();
  child.stdin.end();
  child.stdout.resume();
  await once(child, 'exit');
  expect(performance.now() - begun).toBeLessThan(1_000);
  stop();
});
