import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

export interface Claim {
  release(): void;
}

/**
 * Takes a thing for as long as this process lives, or until it lets go; of two that want it at the same
 * time one gets nothing. It is an address without a file, so that a crash leaves none.
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
