import { existsSync, lstatSync, readFileSync } from 'node:fs';
import { readdir, readFile, readlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startTimeOf } from '../src/lib/std/start-time-of.ts';
import { UsageError } from '../src/lib/terminal/terminal.ts';
import { type Claim, claimNow } from './claim.ts';
import { CHECK_INTERVAL_MS, CLAIM_MS, NAME_CHARACTERS_MAX } from './limits.ts';
import { PLACES } from './places.ts';
import { isAlive, markOf, type ProcessMark } from './process-mark.ts';
import { Refusal } from './refusal.ts';
import type { LabSettings } from './settings.ts';

/** A running practice node: its first process on the machine, and its settings. */
export interface RunningLab extends ProcessMark {
  readonly name: string;
  readonly settings: LabSettings;
}

/** begun: a process is creating the lab, or was interrupted while doing so. */
export type LabState =
  | { readonly is: 'up'; readonly lab: RunningLab }
  | { readonly is: 'begun' }
  | { readonly is: 'dead' };

// practice, kernel-6-18
const NAME = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;

export function checkName(name: string): void {
  if (isName(name)) return;
  throw new UsageError(
    `--name "${name}": not a host name of lower-case letters, digits and "-", at most ` +
      `${NAME_CHARACTERS_MAX} characters. For example: --name practice`,
  );
}

function isName(name: string): boolean {
  return NAME.test(name) && name.length <= NAME_CHARACTERS_MAX;
}

/** Files in the directory of a lab. */
const NODE_RECORD = 'node.json';
const WHOLE = 'whole';

/** The directory of a lab on the machine: everything except its processes and cgroups. */
export function folderOf(name: string): string {
  return join(PLACES.lab, name);
}

/**
 * We kill processes by the records in this directory. So only root may be able to write the
 * directory of all labs and that of this lab. A missing directory is fine.
 */
export function checkFolder(name?: string): void {
  const folders = [PLACES.lab, ...(name === undefined ? [] : [folderOf(name)])];
  const wrong = folders.find((folder) => !isRootsOwn(folder));
  if (wrong === undefined) return;
  throw new Refusal(
    name === undefined ? 'cannot use practice nodes' : `cannot use practice node "${name}"`,
    `${wrong}: not a directory that only root can write`,
    `inspect it, then remove it: ls -la ${wrong}`,
  );
}

function isRootsOwn(path: string): boolean {
  const status = lstatSync(path, { throwIfNoEntry: false });
  if (status === undefined) return true;
  return status.isDirectory() && status.uid === 0 && (status.mode & 0o022) === 0;
}

/** The file in which the holder of the namespaces records itself before it creates them. */
export function recordOf(name: string): string {
  return join(folderOf(name), 'holder');
}

/**
 * The record of a node: `lab down` uses it to find the processes if the holder was killed. It is a
 * file on the machine, because a read on a broken node may hang.
 */
export interface NodeRecord {
  /** The boot id: process and namespace ids are valid for one boot only. */
  readonly boot: string;
  readonly first: ProcessMark;
  readonly settings: LabSettings;
}

/** Called before any process enters the node. */
export async function recordNode(
  options: Omit<LabSettings, 'mountNamespace'>,
  pid: number,
): Promise<NodeRecord> {
  const first = markOf(pid);
  if (first === undefined) throw new Error('the first process of the node has ended');
  const settings = { ...options, mountNamespace: await readlink(`/proc/${pid}/ns/mnt`) };
  const record = { boot: bootNow(), first, settings };
  await writeFile(join(folderOf(options.name), NODE_RECORD), JSON.stringify(record), {
    mode: 0o600,
  });
  return record;
}

export async function readNodeRecord(name: string): Promise<NodeRecord | undefined> {
  checkFolder(name);
  try {
    const record = JSON.parse(
      await readFile(join(folderOf(name), NODE_RECORD), 'utf8'),
    ) as NodeRecord;
    return record.boot === bootNow() ? record : undefined;
  } catch {
    return undefined; // Missing or incomplete: no process has entered the node yet.
  }
}

function bootNow(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
}

/** Called once everything runs: from then on the node may be used. */
export async function markComplete(name: string): Promise<void> {
  await writeFile(join(folderOf(name), WHOLE), '', { mode: 0o600 });
}

/** The names of all labs with a directory, alive or dead. */
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
  if (record === undefined || !existsSync(join(folderOf(name), WHOLE))) return { is: 'begun' };
  const { first, settings } = record;
  return isAlive(first) ? { is: 'up', lab: { name, ...first, settings } } : { is: 'dead' };
}

/** The process that holds the namespaces of a lab, if it is still alive. */
export async function holderOf(name: string): Promise<ProcessMark | undefined> {
  checkFolder(name);
  const text = await readFile(recordOf(name), 'utf8').catch(() => '');
  const [stat = '', boot = ''] = text.trimEnd().split('\n');
  const mark = { pid: Number.parseInt(stat, 10), startTime: startTimeOf(stat) ?? -1 };
  return boot === bootNow() && mark.pid > 0 && isAlive(mark) ? mark : undefined;
}

/**
 * Claims a name until this process exits or releases it. Waits for another process that holds the
 * claim; undefined after the timeout.
 */
export async function claim(name: string, waitMs = CLAIM_MS): Promise<Claim | undefined> {
  const deadline = Date.now() + waitMs;
  for (;;) {
    const claimed = await claimNow('lab', folderOf(name));
    if (claimed !== undefined || Date.now() > deadline) return claimed;
    await sleep(CHECK_INTERVAL_MS);
  }
}
