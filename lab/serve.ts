import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { startCompanion } from '../src/lib/process/companion.ts';
import { isLoopback } from '../src/lib/std/is-loopback.ts';
import { messageOf } from '../src/lib/std/message-of.ts';
import { cleanUpOnSignal } from '../src/lib/terminal/stop-on-signal.ts';
import { type Terminal, UsageError } from '../src/lib/terminal/terminal.ts';
import { NODE_PATH, runningLab } from './enter.ts';
import type { RunningLab } from './known-labs.ts';
import { openNodeEntry } from './node-entry.ts';
import { calledHere } from './own-program.ts';
import { PLACES } from './places.ts';
import { Refusal } from './refusal.ts';
import { servedLines } from './served-lines.ts';
import type { NameOption } from './settings.ts';

export interface ServeOptions extends NameOption {
  readonly listen: string;
}

interface Where {
  readonly listen: string;
  /** Use any free port if the default port is taken. */
  readonly orElsewhere?: boolean;
}

export async function serve(
  options: ServeOptions,
  terminal: Terminal,
  stop = cleanUpOnSignal(),
): Promise<number> {
  return serveLab(await runningLab(options.name), options, terminal, stop);
}

/** `kubediag lab serve` for a known practice node. */
export async function serveLab(
  lab: RunningLab,
  where: Where,
  terminal: Terminal,
  stop: AbortSignal,
): Promise<number> {
  const entry = await openEntry(lab, where);
  const report = () => entry.close();
  stop.addEventListener('abort', report, { once: true });
  if (stop.aborted) report();
  const start = await Promise.race([entry.serving, entry.ended]);
  if (start === 'serving') {
    const token = `/proc/${lab.pid}/root/var/lib/kubediag/token`;
    terminal.out(servedLines({ name: lab.name, url: entry.url, token, program: calledHere() }));
  }
  await entry.ended;
  if (stop.aborted) return 0;
  throw new Refusal(
    `the agent on practice node "${lab.name}" ${start === 'serving' ? 'has stopped' : 'did not start'}`,
    entry.errors().trim() || 'its process has ended',
    `check that the node is up: kubediag lab list; and that no other agent runs there: kubediag lab run --name ${lab.name} -- ps ax`,
  );
}

/**
 * The practice node has its own network. But a listening socket stays in the network namespace
 * where it was created, so we open it here and pass it to a part of the lab inside.
 */
async function openEntry(lab: RunningLab, where: Where) {
  const server = await listening(where);
  const { address, port } = server.address() as { readonly address: string; readonly port: number };
  const serving = Promise.withResolvers<'serving'>();
  const ended = Promise.withResolvers<string>();
  let greeting = '';
  let errors = '';
  const last = (text: string, chunk: Buffer) =>
    `${text}${chunk.toString()}`.slice(-OUTPUT_CHARACTERS_MAX);
  const way = openNodeEntry(lab);
  const entry = startCompanion(
    {
      program: way.program,
      arguments: [...way.into, PLACES.executable, 'lab-part', 'agent-entry'],
      environment: { PATH: NODE_PATH, LC_ALL: 'C' },
      files: [fileOf(server)],
    },
    {
      // The output of the agent is not shown: it contains the token.
      onOutput: (chunk) => {
        greeting = last(greeting, chunk);
        if (/^serving node /m.test(greeting)) serving.resolve('serving');
      },
      onErrorOutput: (chunk) => {
        errors = last(errors, chunk);
      },
      onEnd: ended.resolve,
    },
  );
  // From here on only the part inside accepts connections.
  server.close();
  return {
    url: `http://${address.includes(':') ? `[${address}]` : address}:${port}`,
    /** Settles when the agent answers. */
    serving: serving.promise,
    ended: ended.promise.finally(way.close),
    /** The standard error of the agent. */
    errors: () => errors,
    close: () => entry.endInput(),
  };
}

const OUTPUT_CHARACTERS_MAX = 4_000;

// 127.0.0.1:8090, [::1]:8090, localhost:0
const ADDRESS = /^(\[[\da-f:]+\]|[\w.]+):(\d{1,5})$/i;

async function listening({ listen, orElsewhere = false }: Where): Promise<Server> {
  const [, given = '', port = ''] = ADDRESS.exec(listen) ?? [];
  const host = given.replace(/^\[|\]$/g, '');
  if (!isLoopback(host) || Number(port) > 65_535) {
    throw new UsageError(
      `--listen: not a loopback address and port, such as 127.0.0.1:8090: "${listen}"`,
    );
  }
  const server = createServer();
  server.listen(Number(port), host);
  try {
    await once(server, 'listening');
    return server;
  } catch (error) {
    if (orElsewhere) return listening({ listen: `${given}:0` });
    throw new Refusal(
      `cannot listen on ${listen}`,
      messageOf(error),
      'use any free port: kubediag lab serve --listen 127.0.0.1:0',
    );
  }
}

/** Node.js has no public API for the file descriptor of a socket. */
function fileOf(server: Server): number {
  const handle = Reflect.get(server, '_handle') as object;
  return Reflect.get(handle, 'fd') as number;
}
