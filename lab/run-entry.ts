import { connect, createServer, type Socket } from 'node:net';
import { startCompanion } from '../src/lib/process/companion.ts';
import { NODE_PATH } from './enter.ts';
import { AGENT_END_MS } from './limits.ts';
import { AGENT_PORT, PLACES } from './places.ts';
import { killIfThere } from './process-mark.ts';

/** The listening socket that this part inherits from outside. */
const LISTENING = 3;

/**
 * Runs `kubediag serve` on the practice node, forwards connections from the machine to it, and copies
 * its output. Exits at the end of its input, so that it does not outlive the process outside.
 */
export async function runEntry(): Promise<void> {
  const ended = Promise.withResolvers<string>();
  const agent = startCompanion(
    {
      program: PLACES.executable,
      arguments: ['serve', '--listen', `127.0.0.1:${AGENT_PORT}`],
      environment: { PATH: NODE_PATH, LC_ALL: 'C' },
    },
    {
      onOutput: (chunk) => void process.stdout.write(chunk),
      onErrorOutput: (chunk) => void process.stderr.write(chunk),
      onEnd: ended.resolve,
    },
  );
  const server = createServer(passOn);
  server.listen({ fd: LISTENING });
  process.stdin.resume();
  process.stdin.once('close', () => {
    killIfThere(agent.pid, 'SIGTERM');
    // The agent finishes an action that has begun, up to a timeout.
    setTimeout(() => ended.resolve('it did not end'), AGENT_END_MS).unref();
  });
  await ended.promise;
  agent.abandon();
  server.close();
  process.stdin.destroy();
}

function passOn(caller: Socket): void {
  const agent = connect(AGENT_PORT, '127.0.0.1');
  // When one side closes, so does the other.
  for (const [one, other] of [
    [caller, agent],
    [agent, caller],
  ] as const) {
    one.on('error', () => other.destroy());
    one.on('close', () => other.destroy());
    one.pipe(other);
  }
}
