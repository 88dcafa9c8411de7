import { createHash, type Hash, randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  DiskError,
  prepareFolder,
  type Tried,
  textIfThere,
  tried,
  writeSynced,
} from '../../lib/state/state-folder.ts';
import type { DiagnosisStatus } from '../api/diagnosis.ts';
import { RESULTS_COMPLETE_BYTES_MAX } from './limits.ts';

/** A result in a file, as the status lists it. */
export type Large = NonNullable<DiagnosisStatus['largeResults']>[number];

/** Stores results that are too large for a status, by the uid of their Diagnosis. */
export interface LargeResults {
  /** Durable when it resolves. */
  readonly store: (uid: string, file: string, text: string) => Promise<Tried<void>>;
  /** Undefined if there is no such file. */
  readonly read: (uid: string, file: string) => Promise<Tried<string | undefined>>;
  readonly remove: (uid: string) => Promise<void>;
  /** Removes the results of all other Diagnoses. */
  readonly retain: (uids: ReadonlySet<string>) => Promise<void>;
}

/** In a directory; files of steps are there too. */
export interface FolderResults extends LargeResults {
  readonly store: (uid: string, file: string, content: string | Uint8Array) => Promise<Tried<void>>;
}

/** In a directory: "results/<uid>/<file>". */
export function largeResultsIn(folder: string): FolderResults {
  const remove = async (uid: string) => {
    if (UID.test(uid)) await tried(rm(join(folder, uid), { recursive: true, force: true }));
  };
  return {
    store: (uid, file, content) => tried(store(folder, uid, file, content)),
    read: (uid, file) => tried(read(folder, uid, file)),
    remove,
    retain: async (uids) => {
      // The next write or read reports a failing disk.
      const names = await tried(prepareFolder(folder).then(() => readdirSync(folder)));
      const left = (names.ok ? names.value : []).filter((uid) => UID.test(uid) && !uids.has(uid));
      for (const uid of left) await remove(uid);
    },
  };
}

/** For a Diagnosis that ends with this process. */
export function largeResultsInMemory(): LargeResults {
  const texts = new Map<string, string>();
  return {
    store: async (uid, file, text) => {
      texts.set(`${uid}/${file}`, text);
      return { ok: true, value: undefined };
    },
    read: async (uid, file) => ({ ok: true, value: texts.get(`${uid}/${file}`) }),
    remove: async (uid) => {
      for (const key of texts.keys()) if (key.startsWith(`${uid}/`)) texts.delete(key);
    },
    retain: async () => {},
  };
}

/** By content: an older status still names its own text, and a changed file is noticed. */
export function fileOf(key: string, content: string | Uint8Array): string {
  return fileNameOf(fileHash(key).update(content));
}

/** The same for content that is read in pieces, each added with `update`. */
export function fileHash(key: string): Hash {
  return createHash('sha256').update(key).update('\0');
}

export function fileNameOf(hash: Hash): string {
  return hash.digest('hex').slice(0, 32);
}

/** For clients without a token of the agent. */
export function newAccessKey(): string {
  return randomBytes(16).toString('hex');
}

interface ResultsInFiles {
  readonly operationResults?: DiagnosisStatus['operationResults'];
  readonly largeResults?: readonly Pick<Large, 'key' | 'file'>[];
}

/** All results of a Diagnosis, with those in files. */
export async function completeResults(
  uid: string,
  { operationResults, largeResults = [] }: ResultsInFiles,
  stored: Pick<LargeResults, 'read'>,
): Promise<Tried<Readonly<Record<string, string>>>> {
  const complete: Record<string, string> = { ...operationResults };
  let bytes = 0;
  for (const { key, file } of largeResults) {
    const text = await stored.read(uid, file);
    if (!text.ok) return { ok: false, why: `result ${key}: ${text.why}` };
    if (text.value === undefined || fileOf(key, text.value) !== file) {
      const what = text.value === undefined ? 'is gone from the disk' : 'has changed on disk';
      const todo = 'check the disk and create a new Diagnosis';
      return { ok: false, why: `result ${key}: ${file} ${what}; ${todo}` };
    }
    bytes += Buffer.byteLength(text.value);
    // Who lists them may be a program that was taken over.
    if (bytes > RESULTS_COMPLETE_BYTES_MAX) {
      return { ok: false, why: `results of more than ${RESULTS_COMPLETE_BYTES_MAX} bytes` };
    }
    complete[key] = text.value;
  }
  return { ok: true, value: complete };
}

async function store(
  folder: string,
  uid: string,
  file: string,
  content: string | Uint8Array,
): Promise<void> {
  const path = resultPath(folder, uid, file);
  await prepareFolder(dirname(path));
  await writeSynced(path, content);
}

async function read(folder: string, uid: string, file: string): Promise<string | undefined> {
  return textIfThere(resultPath(folder, uid, file), RESULTS_COMPLETE_BYTES_MAX);
}

// 0f8fad5b-d9cb-469f-a165-70867728950e
const UID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

/** The names come from a status or from an agent, and must not lead out of the directory. */
export function resultPath(folder: string, uid: string, file: string): string {
  if (!UID.test(uid)) throw new DiskError(`"${uid.slice(0, 40)}" is not the uid of a Diagnosis`);
  // 9b74c9897bac770ffc029102a200c5de
  if (/^[\da-f]{32}$/.test(file)) return join(folder, uid, file);
  throw new DiskError(`"${file.slice(0, 40)}" is not the name of a result`);
}
