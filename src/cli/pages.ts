import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getAsset, isSea } from 'node:sea';

/** A fault's page: inside the executable, or beside the sources. */
export function pageOf(faultId: string): string {
  if (isSea()) return getAsset(`pages/${faultId}.md`, 'utf8');
  return readFileSync(join(import.meta.dirname, '../faults', faultId, 'README.md'), 'utf8');
}
