import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * The folder that keeps what was fetched or built by one recipe, outside the checkout, so that every
 * checkout finds it. Another recipe, another folder: what is there never has to be looked at again.
 */
export function cacheFolder(recipe: unknown): string {
  const hash = createHash('sha256').update(JSON.stringify(recipe)).digest('hex').slice(0, 16);
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'kubediag', hash);
}
