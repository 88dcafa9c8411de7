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
 * A lock that ends when its holder exits for any reason, in any namespace: the kernel accepts
 * connections to a Unix socket only while a process listens. Returns the function that releases the
 * lock; undefined if another process holds it.
 *
 * The socket listens before it gets its number, and only the highest number holds the lock. Only
 * numbers below a higher one are removed, so that a slow process finds the highest and gives up.
 */
export async function takeKernelLock(folder: string): Promise<(() => void) | undefined> {
  // The path of a socket must be short, so it goes through the file descriptor of the directory.
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

/** Whether a process holds the lock; changes nothing. */
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

/** Gives the socket the next number; undefined if the newest one is held. */
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
    // It is already gone, or no process listens: in both cases it does not block the lock.
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
    // A connection only shows that we are alive.
    const server = createServer((socket) => void socket.destroy());
    server.once('error', reject);
    server.listen(path, () => {
      server.off('error', reject);
      server.on('error', () => {});
      // The server does not prevent the exit of the process.
      server.unref();
      resolve(server);
    });
  });
}

/** ECONNREFUSED or ENOENT: no process listens. After any other error the holder may be alive. */
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
