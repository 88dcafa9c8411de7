import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { startCompanion } from '../src/lib/process/companion.ts';
import { isLoopback } from '../src/lib/std/is-loopback.ts';
import { messageOf } from '../src/lib/std/message-of.ts';
import type { Terminal } from '../src/lib/terminal/terminal.ts';
import { UsageError } from '../src/lib/terminal/usage-error.ts';
import { calledAs } from './called-as.ts';
import { NODE_PATH, runningLab } from './enter.ts';
import type { RunningLab } from './known-labs.ts';
import type { NameOption } from './lab-options.ts';
import { openNodeEntry } from './node-entry.ts';
import { ownProgram } from './own-program.ts';
import { PLACES } from './places.ts';
import { Refusal } from './refusal.ts';
import { servedLines } from './served-lines.ts';

export interface ServeOptions extends NameOption {
  readonly listen: string;
}

interface Where {
  readonly listen: string;
  /** On any free port, when that one is taken. */
  readonly orElsewhere?: boolean;
}

/** `kubediag lab serve`: the agent on a practice node, reached from this machine, until Ctrl-C. */
export async function serve(
  options: ServeOptions,
  terminal: Terminal,
  stop: AbortSignal,
): Promise<number> {
  return serveLab(await runningLab(options.name), options, terminal, stop);
}

/** The same for a practice node at hand. */
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
    `the practice node "${lab.name}" is ${start === 'serving' ? 'no longer' : 'not'} served`,
    entry.errors().trim() || 'its agent has ended',
    `see whether it still stands: kubediag lab list; and who else serves there: kubediag lab run --name ${lab.name} -- ps ax`,
  );
}

/** By which word a person starts this program here. */
export function calledHere(): string {
  return calledAs(ownProgram().file, { path: process.env.PATH ?? '', folder: process.cwd() });
}

interface Entry {
  readonly url: string;
  /** The agent answers. */
  readonly serving: Promise<'serving'>;
  readonly ended: Promise<string>;
  /** What the agent wrote as errors. */
  readonly errors: () => string;
  close(): void;
}

/**
 * The network of the practice node is its own, so nobody gets in from here. But whoever listens keeps
 * listening where they began, and a socket can be handed over: ours, to a part of the lab inside.
 */
async function openEntry(lab: RunningLab, where: Where): Promise<Entry> {
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
      arguments: [...way.into, PLACES.executable, 'lab-part', 'door'],
      environment: { PATH: NODE_PATH, LC_ALL: 'C' },
      files: [fileOf(server)],
    },
    {
      // Its greeting is never shown: it speaks of the token, and is no reason for anything.
      onOutput: (chunk) => {
        greeting = last(greeting, chunk);
        if (/^serving node /m.test(greeting)) serving.resolve('serving');
      },
      onErrorOutput: (chunk) => {
        errors = last(errors, chunk);
      },
      onEnd: ended.resolve,
      onGone: () => {},
    },
  );
  // From here on the part inside has it; who calls is not to be answered twice.
  server.close();
  return {
    url: `http://${address.includes(':') ? `[${address}]` : address}:${port}`,
    serving: serving.promise,
    ended: ended.promise.finally(way.close),
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
      `--listen takes an address of this machine alone and a port, such as 127.0.0.1:8090, not ` +
        `"${listen}": a practice node is for nobody else`,
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
      `nobody can listen on ${listen}`,
      messageOf(error),
      'take any port that is free: kubediag lab serve --listen 127.0.0.1:0',
    );
  }
}

/** Node has no public name for the number of an open socket. */
function fileOf(server: Server): number {
  const handle = Reflect.get(server, '_handle') as object;
  return Reflect.get(handle, 'fd') as number;
}
