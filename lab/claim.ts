import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

export interface Claim {
  release(): void;
}

/**
 * An exclusive lock until this process exits or releases it; undefined if another process holds it.
 * The lock is an abstract socket address, so that a crash leaves no lock file.
 */
export async function claimNow(kind: 'lab' | 'cluster', thing: string): Promise<Claim | undefined> {
  const hash = createHash('sha256').update(thing).digest('hex').slice(0, 32);
  const server = createServer();
  server.listen(`\0kubediag-${kind}-${hash}`);
  try {
    await once(server, 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return undefined;
    throw error;
  }
  server.unref();
  return { release: () => server.close() };
}
