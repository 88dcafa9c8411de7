import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  linkSync,
  openSync,
  readdirSync,
  unlinkSync,
} from 'node:fs';
import { createConnection, createServer, type Server } from 'node:net';
import { messageOf } from '../std/message-of.ts';
import { LOCK_TRIES_MAX } from './limits.ts';
import { adviceOn, DiskError, hasCode } from './state-folder.ts';

/**
 * A lock that ends with its holder, however that ends and in whichever namespace it lives: the kernel
 * connects to a Unix socket for as long as somebody listens there. Returns the function that releases
 * it; undefined when somebody else holds it.
 *
 * The socket listens before it gets its number, and only the process with the highest number holds the lock.
 * Numbers are removed only below a higher one: who was too slow always finds that one, and gives up.
 */
export async function takeKernelLock(folder: string): Promise<(() => void) | undefined> {
  // The name of a socket is short, and that of our folder may be long: by a descriptor it is not.
  const directory = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  const at = (name: string) => `/proc/self/fd/${directory}/${name}`;
  const own = `.lock-${randomBytes(8).toString('hex')}`;
  let server: Server | undefined;
  let number: number | undefined;
  try {
    server = await listeningAt(at(own));
    chmodSync(at(own), 0o600);
    number = await numberFor(own, at);
  } catch (error) {
    const { why, todo } = adviceOn(error) ?? { why: messageOf(error) };
    throw new DiskError(`${folder} cannot be locked: ${why}`, todo);
  } finally {
    remove(at(own));
    if (number === undefined) {
      server?.close();
      closeSync(directory);
    }
  }
  if (number === undefined || !server) return undefined;
  for (const each of numbersIn(at(''))) if (each < number) remove(at(nameOf(each)));
  return () => {
    if (!server.listening) return;
    server.close();
    closeSync(directory);
  };
}

/** Whether somebody holds it; changes nothing. */
export async function isKernelLockHeld(folder: string): Promise<boolean> {
  const directory = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    const at = (name: string) => `/proc/self/fd/${directory}/${name}`;
    const newest = Math.max(0, ...numbersIn(at('')));
    return newest > 0 && (await isAnswering(at(nameOf(newest))));
  } finally {
    closeSync(directory);
  }
}

/** Gives the socket the next number; undefined when the newest one is held. */
async function numberFor(own: string, at: (name: string) => string): Promise<number | undefined> {
  for (let tries = 0; tries < LOCK_TRIES_MAX; tries += 1) {
    const newest = Math.max(0, ...numbersIn(at('')));
    if (newest > 0 && (await isAnswering(at(nameOf(newest))))) return undefined;
    const number = newest + 1;
    if (!isLinked(at(own), at(nameOf(number)))) continue;
    // Since we looked, others may have had the lock, and removed this number as a lower one.
    if (Math.max(...numbersIn(at(''))) === number) return number;
    remove(at(nameOf(number)));
  }
  throw new DiskError(`others took the lock ${LOCK_TRIES_MAX} times meanwhile`);
}

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // It is gone already, or nothing listens: then it does not block the lock either.
  }
}

/** False when somebody else was faster: then there is a newer one to look at. */
function isLinked(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  }
}

function nameOf(number: number): string {
  return `lock-${number}`;
}

// lock-17
function numbersIn(folder: string): readonly number[] {
  return readdirSync(folder).flatMap((name) => {
    const number = /^lock-([1-9]\d{0,14})$/.exec(name)?.[1];
    return number === undefined ? [] : [Number(number)];
  });
}

function listeningAt(path: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    // A connection only asks whether we are alive.
    const server = createServer((socket) => void socket.destroy());
    server.once('error', reject);
    server.listen(path, () => {
      server.off('error', reject);
      server.on('error', () => {});
      // It does not keep alive a process that has nothing more to do.
      server.unref();
      resolve(server);
    });
  });
}

/** Nobody listens at a socket whose process has ended. Any other error may be of one who lives. */
function isAnswering(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', (error) => {
      socket.destroy();
      resolve(!hasCode(error, 'ECONNREFUSED') && !hasCode(error, 'ENOENT'));
    });
  });
}
