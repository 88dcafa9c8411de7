import { existsSync, lstatSync, readFileSync, readlinkSync } from 'node:fs';
import { readdir, readFile, readlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startTimeOf } from '../std/start-time-of.ts';
import { type Claim, claimNow } from './claim.ts';
import { CLAIM_MS, LOOK_MS, NAME_CHARACTERS_MAX } from './limits.ts';
import { PLACES } from './places.ts';
import { childOf, isAlive, markOf, type ProcessMark } from './process-mark.ts';
import { WrongWords } from './refusal.ts';
import type { LabSettings } from './settings.ts';

/** A practice node that stands, as the machine sees it. */
export interface StandingLab {
  readonly name: string;
  /** Its first process. */
  readonly pid: number;
  /** The words that stand before a command to run it there. */
  readonly enter: readonly string[];
  readonly settings: LabSettings;
}

/** begun: somebody makes it right now, or was killed a moment ago while they did. */
export type LabState =
  | { readonly is: 'up'; readonly lab: StandingLab }
  | { readonly is: 'begun' }
  | { readonly is: 'dead' };

// practice, kernel-6-18
const NAME = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;

export function checkName(name: string): void {
  if (NAME.test(name) && name.length <= NAME_CHARACTERS_MAX) return;
  throw new WrongWords(
    `"${name}" can be no name of a practice node: small letters, digits and "-" between them, ` +
      `at most ${NAME_CHARACTERS_MAX}, for it becomes its host name. For example: --name practice`,
  );
}

/** All that a lab has on the machine beside its processes and cgroups. */
export function folderOf(name: string): string {
  return join(PLACES.lab, name);
}

/** The process that holds the namespaces, as it wrote itself down before it made them. */
export function recordOf(name: string): string {
  return join(folderOf(name), 'holder');
}

/** What is known of a node once it has begun: by it a part of it is found whose holder is gone. */
export interface NodeRecord {
  readonly first: ProcessMark;
  readonly mountNamespace: string;
}

function nodeRecordOf(name: string): string {
  return join(folderOf(name), 'node.json');
}

/** Before anybody enters it. */
export async function recordNode(name: string, pid: number): Promise<NodeRecord> {
  const first = markOf(pid);
  if (first === undefined) throw new Error('the first process of the node is gone');
  const record = { first, mountNamespace: await readlink(`/proc/${pid}/ns/mnt`) };
  await writeFile(nodeRecordOf(name), JSON.stringify(record), { mode: 0o600 });
  return record;
}

export async function readNodeRecord(name: string): Promise<NodeRecord | undefined> {
  try {
    return JSON.parse(await readFile(nodeRecordOf(name), 'utf8')) as NodeRecord;
  } catch {
    return undefined; // None was written, or half of it: then nobody has entered the node.
  }
}

/** Once all that belongs to it runs: from then on it may be used. */
export async function markWhole(name: string): Promise<void> {
  await writeFile(wholeMarkOf(name), '', { mode: 0o600 });
}

function wholeMarkOf(name: string): string {
  return join(folderOf(name), 'whole');
}

/** Of all labs that have a folder, alive or dead. */
export async function labNames(): Promise<readonly string[]> {
  if (!existsSync(PLACES.lab) || !isRootsOwn(PLACES.lab)) return [];
  const names = await readdir(PLACES.lab);
  return names.filter((name) => NAME.test(name)).toSorted();
}

/** Nobody but root may have put there what we are about to believe, and to kill by. */
function isRootsOwn(path: string): boolean {
  const status = lstatSync(path);
  return status.isDirectory() && status.uid === 0 && (status.mode & 0o022) === 0;
}

export async function stateOf(name: string): Promise<LabState> {
  const holder = await holderOf(name);
  if (holder === undefined) return { is: 'dead' };
  const pid = await childOf(holder.pid).catch(() => undefined);
  const isWhole = pid !== undefined && existsSync(wholeMarkOf(name));
  const settings = isWhole ? settingsSeenOf(pid) : undefined;
  if (pid === undefined || settings === undefined) return { is: 'begun' };
  const enter = ['nsenter', '--target', String(pid), ...NAMESPACES, '--'];
  return { is: 'up', lab: { name, pid, enter, settings } };
}

const NAMESPACES = ['--mount', '--pid', '--net', '--uts'];

/** Whoever holds the namespaces of a lab, if that is still the same process. */
export async function holderOf(name: string): Promise<ProcessMark | undefined> {
  const text = await readFile(recordOf(name), 'utf8').catch(() => '');
  const [stat = '', boot = ''] = text.trimEnd().split('\n');
  const mark = { pid: Number.parseInt(stat, 10), startTime: startTimeOf(stat) ?? -1 };
  const here = await readFile('/proc/sys/kernel/random/boot_id', 'utf8');
  return boot === here.trim() && mark.pid > 0 && isAlive(mark) ? mark : undefined;
}

/** What the practice node of this process says of itself; undefined when it is on none. */
export function settingsSeenOf(pid: number): LabSettings | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/root${PLACES.settings}`, 'utf8');
    const settings = JSON.parse(text) as LabSettings;
    const isHere = settings.mountNamespace === readlinkSync(`/proc/${pid}/ns/mnt`);
    return isHere ? settings : undefined;
  } catch {
    return undefined; // It is gone, or not so far yet, or none of ours.
  }
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
    await sleep(LOOK_MS);
  }
}
