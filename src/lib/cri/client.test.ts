import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { status } from '@grpc/grpc-js';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Calls, serveCalls } from '../../../lab/runtime/serve-calls.ts';
import { listenAt } from '../../../test/rig/socket-servers.ts';
import { connectRuntime, type RuntimeConnection } from './client.ts';
import {
  ContainerStatusResponse,
  ListContainersResponse,
  VersionResponse,
} from './generated/cri.ts';
import { RUNTIME_MESSAGE_BYTES_MAX } from './limits.ts';
import { RuntimeCallError, type RuntimeFailure } from './runtime-call-error.ts';

const LIMIT_MS = 400;

let folder: string;
let undo: (() => void)[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubediag-cri-'));
  undo = [];
});

afterEach(async () => {
  for (const step of undo.toReversed()) step();
  await rm(folder, { recursive: true, force: true });
});

async function serve(service: string, calls: Calls): Promise<string> {
  const socket = join(folder, 'runtime.sock');
  undo.push(await serveCalls(socket, { [service]: calls }));
  return socket;
}

async function listen(behave: (connection: Socket) => void): Promise<string> {
  const socket = join(folder, 'odd.sock');
  undo.push(await listenAt(socket, behave));
  return socket;
}

function connect(socket: string): RuntimeConnection {
  const connection = connectRuntime(socket, { limitMs: LIMIT_MS });
  undo.push(() => connection.close());
  return connection;
}

async function failureOf(call: Promise<unknown>): Promise<RuntimeCallError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(RuntimeCallError);
  return error as RuntimeCallError;
}

const VERSION = VersionResponse.encode({
  version: '0.1.0',
  runtimeName: 'containerd',
  runtimeVersion: '1.6.20',
  runtimeApiVersion: 'v1',
}).finish();

const printVersion: Calls = { Version: (_request, reply) => reply(null, Buffer.from(VERSION)) };

const failWith = (code: status, details: string): Calls => ({
  Version: (_request, reply) => reply({ code, details }),
});

describe('a runtime that answers', () => {
  it('is asked in v1', async () => {
    const runtime = connect(await serve('runtime.v1.RuntimeService', printVersion));
    expect(await runtime.version()).toEqual({
      criVersion: 'v1',
      message: {
        version: '0.1.0',
        runtimeName: 'containerd',
        runtimeVersion: '1.6.20',
        runtimeApiVersion: 'v1',
      },
    });
  });

  it('is asked in v1alpha2 if it does not implement v1, also in later calls', async () => {
    let asked = 0;
    const runtime = connect(
      await serve('runtime.v1alpha2.RuntimeService', {
        Version: (_request, reply) => {
          asked++;
          reply(null, Buffer.from(VERSION));
        },
      }),
    );
    expect((await runtime.version()).criVersion).toBe('v1alpha2');
    expect((await runtime.version()).criVersion).toBe('v1alpha2');
    expect(asked).toBe(2);
  });

  it('is named in the error if it implements neither', async () => {
    const error = await failureOf(connect(await serve('other.Service', printVersion)).version());
    expect(error.failure).toBe('unsupported');
    expect(error.message).toMatch(/neither CRI v1 nor v1alpha2/);
  });

  it('returns states by name, times as text, and unknown states as such', async () => {
    const known = ContainerStatusResponse.encode({
      info: {},
      status: ContainerStatusResponse.fromPartial({
        status: { id: 'c1', state: 'CONTAINER_EXITED', exitCode: 128, reason: 'StartError' },
      }).status,
    }).finish();
    let asked = '';
    const runtime = connect(
      await serve('runtime.v1.RuntimeService', {
        ContainerStatus: (request, reply) => {
          asked = request.toString('latin1');
          reply(null, Buffer.from(known));
        },
        // One container with an undefined state: field 6 is 9.
        ListContainers: (_request, reply) => reply(null, Buffer.from([0x0a, 0x02, 0x30, 0x09])),
      }),
    );
    const { message } = await runtime.containerStatus('c1');
    expect(asked).toBe('\n\x02c1');
    expect(message.status).toMatchObject({
      state: 'CONTAINER_EXITED',
      exitCode: 128,
      reason: 'StartError',
      startedAt: '0',
    });
    expect((await runtime.listContainers()).message.containers[0]?.state).toBe('UNRECOGNIZED');
  });

  it('returns 10,000 containers', async () => {
    const containers = Array.from({ length: 10_000 }, (_, index) => ({ id: `c${index}` }));
    const bytes = ListContainersResponse.encode(
      ListContainersResponse.fromPartial({ containers }),
    ).finish();
    const runtime = connect(
      await serve('runtime.v1.RuntimeService', {
        ListContainers: (_request, reply) => reply(null, Buffer.from(bytes)),
      }),
    );
    expect((await runtime.listContainers()).message.containers).toHaveLength(10_000);
  });
});

describe('a runtime that answers with an error', () => {
  it.each<[status, string, RuntimeFailure]>([
    [status.NOT_FOUND, 'an error occurred when try to find container "x": not found', 'missing'],
    [status.PERMISSION_DENIED, 'no', 'denied'],
    [status.UNAUTHENTICATED, 'no', 'denied'],
    [status.UNKNOWN, 'server is not initialized yet', 'failed'],
    [
      status.RESOURCE_EXHAUSTED,
      'grpc: trying to send message larger than max (2 vs. 1)',
      'too-large',
    ],
    [status.RESOURCE_EXHAUSTED, 'too many requests', 'failed'],
    [status.UNAVAILABLE, 'shutting down', 'failed'],
    [status.DEADLINE_EXCEEDED, 'context deadline exceeded', 'timeout'],
  ])('code %i "%s" is %s', async (code, details, failure) => {
    const socket = await serve('runtime.v1.RuntimeService', failWith(code, details));
    const error = await failureOf(connect(socket).version());
    expect(error.failure).toBe(failure);
    if (failure !== 'timeout') expect(error.detail).toBe(details);
  });

  it('is malformed if the message is not protobuf', async () => {
    const socket = await serve('runtime.v1.RuntimeService', {
      Version: (_request, reply) => reply(null, Buffer.from([0x0a, 0xff, 0xff])),
    });
    expect((await failureOf(connect(socket).version())).failure).toBe('malformed');
  });

  it('is too-large beyond the limit', async () => {
    const socket = await serve('runtime.v1.RuntimeService', {
      Version: (_request, reply) => reply(null, Buffer.alloc(RUNTIME_MESSAGE_BYTES_MAX + 1)),
    });
    const connection = connectRuntime(socket);
    undo.push(() => connection.close());
    expect((await failureOf(connection.version())).failure).toBe('too-large');
  });

  it('is a timeout if it does not answer', async () => {
    const socket = await serve('runtime.v1.RuntimeService', { Version: () => {} });
    expect((await failureOf(connect(socket).version())).failure).toBe('timeout');
  });
});

describe('a clock that is set during a call', () => {
  const HOUR_MS = 3_600_000;

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** Does not implement v1, and v1alpha2 as configured; the clock is set between the two calls. */
  async function changing(setByMs: number, calls: Calls): Promise<RuntimeConnection> {
    const socket = join(folder, 'runtime.sock');
    const unimplemented: Calls = {
      Version: (_request, reply) => {
        vi.setSystemTime(Date.now() + setByMs);
        reply({ code: status.UNIMPLEMENTED, details: 'unknown service' });
      },
    };
    const services = {
      'runtime.v1.RuntimeService': unimplemented,
      'runtime.v1alpha2.RuntimeService': calls,
    };
    undo.push(await serveCalls(socket, services));
    return connect(socket);
  }

  it('back does not extend the call', async () => {
    const connection = await changing(-HOUR_MS, { Version: () => {} });
    const started = performance.now();
    expect((await failureOf(connection.version())).failure).toBe('timeout');
    expect(performance.now() - started).toBeLessThan(LIMIT_MS * 5);
  });

  it('forward does not end the call', async () => {
    const connection = await changing(HOUR_MS, printVersion);
    expect((await connection.version()).criVersion).toBe('v1alpha2');
  });
});

describe('a path without a runtime', () => {
  it('is missing when there is no socket', async () => {
    const error = await failureOf(connect(join(folder, 'none.sock')).version());
    expect(error.failure).toBe('missing');
    expect(error.message).toBe(`CRI Version: there is no socket ${join(folder, 'none.sock')}`);
  });

  it('is refused when nothing listens', async () => {
    await writeFile(join(folder, 'left.sock'), '');
    expect((await failureOf(connect(join(folder, 'left.sock')).version())).failure).toBe('refused');
  });

  it.each<[string, RuntimeFailure, (connection: Socket) => void]>([
    ['is paused', 'timeout', () => {}],
    ['says too little', 'timeout', (connection) => connection.write('hi')],
    ['speaks HTTP/1', 'malformed', (connection) => connection.end('HTTP/1.1 400 Bad\r\n\r\n')],
    ['speaks nonsense', 'malformed', (connection) => connection.write(Buffer.alloc(9999, 0xa5))],
    ['closes its half at once', 'failed', (connection) => connection.end()],
    ['closes at once', 'failed', (connection) => connection.destroy()],
    ['closes later', 'failed', (connection) => setTimeout(() => connection.destroy(), 50)],
  ])('that %s: %s', async (_name, failure, behave) => {
    const connection = connect(await listen(behave));
    const started = performance.now();
    expect((await failureOf(connection.version())).failure).toBe(failure);
    expect(performance.now() - started).toBeLessThan(LIMIT_MS * 5);
  });

  it.each([
    ['a path too long for a socket', `/${'x'.repeat(107)}`, /108 bytes are too long/],
    ['a relative path', 'run/x.sock', /no absolute path/],
    ['two lines', '/run/\n', /no absolute path/],
  ])('is refused before a call: %s', (_name, path, text) => {
    expect(() => connectRuntime(path)).toThrow(text);
  });
});

describe('closing', () => {
  it('ends running calls, and every later one', async () => {
    const connection = connect(await listen(() => {}));
    const call = failureOf(connection.version());
    connection.close();
    expect((await call).detail).toBe('the connection was closed');
    expect((await failureOf(connection.version())).detail).toBe('the connection is closed');
  });

  it.each<[string, (connection: Socket) => void]>([
    ['paused', () => {}],
    ['speaking nonsense', (connection) => connection.write(Buffer.alloc(9999, 0xa5))],
    ['closing at once', (connection) => connection.end()],
  ])('lets the process end by itself, silent: a runtime %s', async (_name, behave) => {
    expect(await exitOfCaller(await listen(behave))).toEqual({ code: 0, output: 'ended' });
  });

  it('lets the process exit after an answer', async () => {
    const socket = await serve('runtime.v1.RuntimeService', printVersion);
    expect(await exitOfCaller(socket)).toEqual({ code: 0, output: 'ended' });
  });
});

/** Calls from a separate process, and returns its exit code and its output. */
async function exitOfCaller(socket: string): Promise<{ code: number | null; output: string }> {
  const client = fileURLToPath(new URL('client.ts', import.meta.url));
  const script = `
    import { connectRuntime } from ${JSON.stringify(client)};
    const runtime = connectRuntime(${JSON.stringify(socket)}, { limitMs: 200 });
    await runtime.version().catch(() => {});
    runtime.close();
    process.stdout.write('ended');`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    env: {
      ...process.env,
      GRPC_TRACE: 'all',
      GRPC_VERBOSITY: 'DEBUG',
      http_proxy: 'http://[::1]:1',
    },
    timeout: 10_000,
    killSignal: 'SIGKILL',
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { code, output };
}
