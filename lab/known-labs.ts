import { existsSync, readFileSync } from 'node:fs';
import { readdir, readFile, readlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startTimeOf } from '../src/lib/std/start-time-of.ts';
import { UsageError } from '../src/lib/terminal/usage-error.ts';
import { type Claim, claimNow } from './claim.ts';
import { checkFolder, folderOf, isRootsOwn } from './lab-folder.ts';
import { CHECK_INTERVAL_MS, CLAIM_MS, NAME_CHARACTERS_MAX } from './limits.ts';
import { PLACES } from './places.ts';
import { isAlive, markOf, type ProcessMark } from './process-mark.ts';
import type { LabSettings } from './settings.ts';

/** A practice node that stands, as the machine sees it: its first process, and what it was made with. */
export interface RunningLab extends ProcessMark {
  readonly name: string;
  readonly settings: LabSettings;
}

/** begun: somebody makes it right now, or was killed a moment ago while they did. */
export type LabState =
  | { readonly is: 'up'; readonly lab: RunningLab }
  | { readonly is: 'begun' }
  | { readonly is: 'dead' };

// practice, kernel-6-18
const NAME = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;

export function checkName(name: string): void {
  if (isName(name)) return;
  throw new UsageError(
    `"${name}" can be no name of a practice node: small letters, digits and "-" between them, ` +
      `at most ${NAME_CHARACTERS_MAX}, for it becomes its host name. For example: --name practice`,
  );
}

function isName(name: string): boolean {
  return NAME.test(name) && name.length <= NAME_CHARACTERS_MAX;
}

/** The process that holds the namespaces, as it wrote itself down before it made them. */
export function recordOf(name: string): string {
  return join(folderOf(name), 'holder');
}

/**
 * What is known of a node once it has begun: by it a part of it is found whose holder is gone. It lies
 * on the machine, for the node may have become silent: whoever reads a file there may wait for ever.
 */
export interface NodeRecord {
  /** Which run of the machine that was: numbers of processes and namespaces count in no other. */
  readonly boot: string;
  readonly first: ProcessMark;
  readonly settings: LabSettings;
}

function nodeRecordOf(name: string): string {
  return join(folderOf(name), 'node.json');
}

/** Before anybody enters it. */
export async function recordNode(
  options: Omit<LabSettings, 'mountNamespace'>,
  pid: number,
): Promise<NodeRecord> {
  const first = markOf(pid);
  if (first === undefined) throw new Error('the first process of the node is gone');
  const settings = { ...options, mountNamespace: await readlink(`/proc/${pid}/ns/mnt`) };
  const record = { boot: bootNow(), first, settings };
  await writeFile(nodeRecordOf(options.name), JSON.stringify(record), { mode: 0o600 });
  return record;
}

export async function readNodeRecord(name: string): Promise<NodeRecord | undefined> {
  checkFolder(name);
  try {
    const record = JSON.parse(await readFile(nodeRecordOf(name), 'utf8')) as NodeRecord;
    return record.boot === bootNow() ? record : undefined;
  } catch {
    return undefined; // None was written, or half of it: then nobody has entered the node.
  }
}

function bootNow(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
}

/** Once all that belongs to it runs: from then on it may be used. */
export async function markComplete(name: string): Promise<void> {
  await writeFile(wholeMarkOf(name), '', { mode: 0o600 });
}

function wholeMarkOf(name: string): string {
  return join(folderOf(name), 'whole');
}

/** Of all labs that have a folder, alive or dead. */
export async function labNames(): Promise<readonly string[]> {
  checkFolder();
  if (!existsSync(PLACES.lab)) return [];
  const names = await readdir(PLACES.lab);
  return names.filter((name) => isName(name) && isRootsOwn(folderOf(name))).toSorted();
}

export async function stateOf(name: string): Promise<LabState> {
  const holder = await holderOf(name);
  if (holder === undefined) return { is: 'dead' };
  const record = await readNodeRecord(name);
  if (record === undefined || !existsSync(wholeMarkOf(name))) return { is: 'begun' };
  const { first, settings } = record;
  return isAlive(first) ? { is: 'up', lab: { name, ...first, settings } } : { is: 'dead' };
}

/** Whoever holds the namespaces of a lab, if that is still the same process. */
export async function holderOf(name: string): Promise<ProcessMark | undefined> {
  checkFolder(name);
  const text = await readFile(recordOf(name), 'utf8').catch(() => '');
  const [stat = '', boot = ''] = text.trimEnd().split('\n');
  const mark = { pid: Number.parseInt(stat, 10), startTime: startTimeOf(stat) ?? -1 };
  return boot === bootNow() && mark.pid > 0 && isAlive(mark) ? mark : undefined;
}

/**
 * Takes a name for as long as this process lives, or until it lets go. Of two that want it one waits
 * for the other, and after a while gets nothing.
 */
export async function claim(name: string, waitMs = CLAIM_MS): Promise<Claim | undefined> {
  const deadline = Date.now() + waitMs;
  for (;;) {
    const claimed = await claimNow('lab', folderOf(name));
    if (claimed !== undefined || Date.now() > deadline) return claimed;
    await sleep(CHECK_INTERVAL_MS);
  }
}
