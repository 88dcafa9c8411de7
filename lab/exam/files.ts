import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { unlessGone } from '../unless-gone.ts';
import { CONTENT_BYTES_MAX, FILES_MAX } from './limits.ts';

export interface Folder {
  readonly path: string;
  /** 1: only the entries of the directory. */
  readonly depth: number;
  /** What is compared: names; names and sizes; or names, sizes and contents. */
  readonly detail: 'names' | 'sizes' | 'contents';
}

export interface FilesSeen {
  /** One line for each file and directory. */
  readonly lines: readonly string[];
  /** An entry is a mount whose server may not answer. Only the name of that entry is recorded. */
  readonly hasServedMount: boolean;
}

export function filesIn(folder: Folder, served: ReadonlySet<string>): FilesSeen {
  const lines: string[] = [];
  let hasServedMount = false;
  const walk = (path: string, depth: number): void => {
    // Names without types: to get the type, the kernel might ask a server that does not answer.
    for (const name of unlessGone(() => readdirSync(path)) ?? []) {
      const entry = join(path, name);
      if (served.has(entry)) {
        hasServedMount = true;
        lines.push(`file ${entry} is a mount of a server`);
        continue;
      }
      const stats = unlessGone(() => lstatSync(entry));
      if (!stats) continue;
      lines.push(`file ${entry} ${wordsFor(entry, stats, folder.detail)}`);
      if (lines.length > FILES_MAX)
        throw new Error(`more than ${FILES_MAX} files in ${folder.path}`);
      if (stats.isDirectory() && depth > 1) walk(entry, depth - 1);
    }
  };
  // A symbolic link is not followed.
  if (unlessGone(() => lstatSync(folder.path))?.isDirectory()) walk(folder.path, folder.depth);
  return { lines, hasServedMount };
}

function wordsFor(path: string, stats: Stats, detail: Folder['detail']): string {
  const rights = `${(stats.mode & 0o7777).toString(8).padStart(4, '0')} ${stats.uid}:${stats.gid}`;
  if (stats.isSymbolicLink()) return `link to ${unlessGone(() => readlinkSync(path))}`;
  if (stats.isDirectory()) return `directory ${rights}`;
  if (!stats.isFile()) return `${kindOf(stats)} ${rights}`;
  if (detail === 'names') return `file ${rights}`;
  const isRead = detail === 'contents' && stats.size <= CONTENT_BYTES_MAX;
  const content = isRead ? unlessGone(() => readFileSync(path)) : undefined;
  const hash = content ? ` ${createHash('sha256').update(content).digest('hex').slice(0, 16)}` : '';
  return `file ${rights} ${stats.size} bytes${hash}`;
}

function kindOf(stats: Stats): string {
  if (stats.isSocket()) return 'socket';
  if (stats.isFIFO()) return 'pipe';
  return 'device';
}
