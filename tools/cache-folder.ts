import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * The directory for what one recipe has downloaded or built, outside the checkout, so that every
 * checkout finds it. Another recipe has another directory: the content never has to be checked again.
 */
export function cacheFolder(recipe: unknown): string {
  const hash = createHash('sha256').update(JSON.stringify(recipe)).digest('hex').slice(0, 16);
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'kubediag', hash);
}
