import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getAsset, isSea } from 'node:sea';

/** A fault's page: inside the executable, or beside the sources. HTML comments are removed. */
export function pageOf(faultId: string): string {
  const page = isSea()
    ? getAsset(`pages/${faultId}.md`, 'utf8')
    : readFileSync(join(import.meta.dirname, '../../../node/faults', faultId, 'README.md'), 'utf8');
  return page.replace(/<!--[\s\S]*?-->\n*/g, '');
}
