import { isUtf8 } from 'node:buffer';
import { readdirSync } from 'node:fs';
import { textOf } from '../../lib/std/text-codec.ts';
import {
  type Entry,
  type Question,
  ReadError,
  sourceOf,
  type TreeFolder,
} from '../model/node-reader.ts';
import { statusUnheld } from './file-status.ts';
import { FOLDER_NAMES_MAX, TREE_FOLDERS_MAX } from './limits.ts';
import { pathBytes, pathInRoot } from './path-in-root.ts';
import { IS_GONE, orCode, unlessGone } from './read-file.ts';

const SLASH = Buffer.from('/');
const HERE = Buffer.from('.');

/**
 * Walks down level by level with names only. A directory that is not there, or is none, simply does
 * not match; one that cannot be read is reported, because its content is then unknown.
 */
export function foldersIn(asked: Question<'tree'>, hostRoot: string): readonly TreeFolder[] {
  const top = pathInRoot(hostRoot, asked.path, 'follow');
  const found: TreeFolder[] = [];
  let namesLeft = FOLDER_NAMES_MAX;
  const walk = (here: Buffer, folder: string, levels: readonly string[]): void => {
    const [level, ...below] = levels;
    if (level !== undefined && level !== '*') {
      walk(join(here, pathBytes(level)), joinText(folder, level), below);
      return;
    }
    const { value: names, code = '' } = orCode(() => namesIn(here));
    if (!names) {
      if (!IS_GONE.has(code)) found.push({ folder, names: [], failure: code });
      return;
    }
    namesLeft -= names.length;
    if (namesLeft < 0 || found.length >= TREE_FOLDERS_MAX) {
      throw new ReadError('too-large', sourceOf(asked), 'it holds more than we list');
    }
    if (level === undefined) found.push({ folder, names });
    else for (const name of names) walk(join(here, pathBytes(name)), joinText(folder, name), below);
  };
  // Unlike what lies below, the directory that was asked for must be there.
  readdirSync(top, { encoding: 'buffer' });
  walk(top, '', asked.levels);
  return found;
}

/** The caller has made sure, from the mount tables, that none of these is a mount. */
export function entriesIn(asked: Question<'entries'>, hostRoot: string): readonly Entry[] {
  const folder = pathInRoot(hostRoot, asked.path, 'follow');
  const entryAt = (name: string, here: Buffer): Entry => {
    const status = unlessGone(() => statusUnheld(here)) ?? null;
    const isFolder = status?.type === 'folder';
    return { name, status, isEmpty: isFolder ? readdirSync(here).length === 0 : null };
  };
  if (!isUtf8(folder))
    return asked.names.map((name) => entryAt(name, join(folder, pathBytes(name))));
  // Seen from within the directory, each is one step away; from the root it is a dozen.
  process.chdir(folder.toString('utf8'));
  try {
    return asked.names.map((name) => entryAt(name, join(HERE, pathBytes(name))));
  } finally {
    // Nobody who wants to unmount or remove it shall find us there.
    process.chdir('/');
  }
}

/** What stands in a text for bytes that are none. */
const NO_TEXT = '\ufffd';

/** As bytes only where one of them is no text: a buffer for each name costs more than the reading. */
export function namesIn(folder: Buffer): readonly string[] {
  const names = readdirSync(folder, 'utf8');
  if (!names.some((name) => name.includes(NO_TEXT))) return names;
  return readdirSync(folder, 'buffer').map(textOf);
}

function join(folder: Buffer, name: Buffer): Buffer {
  return Buffer.concat([folder, SLASH, name]);
}

function joinText(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}
