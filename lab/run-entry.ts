import { connect, createServer, type Socket } from 'node:net';
import { startCompanion } from '../src/lib/process/companion.ts';
import { NODE_PATH } from './enter.ts';
import { AGENT_END_MS } from './limits.ts';
import { AGENT_PORT, PLACES } from './places.ts';
import { killIfThere } from './process-mark.ts';

/** The socket that somebody listens on outside, which this part is given to answer on. */
const LISTENING = 3;

/**
 * The part `door`: lets `kubediag serve` stand on the practice node, and passes on to it whoever calls
 * from the machine. All that the agent says is said here too. It ends when its input does, and with it
 * whoever holds the other end: so nothing is left of it when that is killed.
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
      onGone: () => {},
    },
  );
  const server = createServer(passOn);
  server.listen({ fd: LISTENING });
  process.stdin.resume();
  process.stdin.once('close', () => {
    killIfThere(agent.pid, 'SIGTERM');
    // A change of the node that has begun is finished first; but not for ever.
    setTimeout(() => ended.resolve('it did not end'), AGENT_END_MS).unref();
  });
  await ended.promise;
  agent.abandon();
  server.close();
  process.stdin.destroy();
}

function passOn(caller: Socket): void {
  const agent = connect(AGENT_PORT, '127.0.0.1');
  // Whoever goes away takes the other with them.
  for (const [one, other] of [
    [caller, agent],
    [agent, caller],
  ] as const) {
    one.on('error', () => other.destroy());
    one.on('close', () => other.destroy());
    one.pipe(other);
  }
}
