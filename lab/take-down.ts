import { readFile, readlink, rm, rmdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { removeCgroupTree } from './cgroup-tree.ts';
import { holderOf, type NodeRecord, readNodeRecord } from './known-labs.ts';
import { checkFolder, folderOf, rootNameOf } from './lab-folder.ts';
import { CHECK_INTERVAL_MS, END_MS } from './limits.ts';
import { PLACES } from './places.ts';
import {
  allProcesses,
  isAlive,
  killMarked,
  markOf,
  namedProcesses,
  type ProcessMark,
} from './process-mark.ts';
import { Refusal } from './refusal.ts';
import { labCgroup } from './runtime/lab-cgroup.ts';

/**
 * Ends a lab, whatever is left of it, and leaves no process, mount, cgroup or file. Whoever is killed
 * is known to belong to it: by the record of its holder, or by being in its namespaces right now.
 */
export async function takeDown(name: string): Promise<void> {
  checkFolder(name);
  const deadline = Date.now() + END_MS;
  const seen = new Map<number, ProcessMark>();
  for (;;) {
    // One that ends leaves its namespaces before it is gone, so whoever was seen is waited for.
    for (const each of await processesOf(name)) seen.set(each.pid, each);
    const left = [...seen.values()].filter(isAlive);
    if (left.length === 0) break;
    if (Date.now() > deadline) throw await stuck(name, left);
    // Whoever holds the first process reaps it and ends by itself.
    const holder = await holderOf(name);
    const others = left.filter(({ pid }) => pid !== holder?.pid);
    for (const each of others.length > 0 ? others : left) killMarked(each);
    await sleep(CHECK_INTERVAL_MS);
  }
  await removeCgroupTree(labCgroup(name));
  await rm(folderOf(name), { recursive: true, force: true });
  // Once the last lab is gone, so is what they had in common.
  await rmdir(PLACES.lab).catch(() => {});
}

/**
 * The first process, and whoever holds it; its end is the end of all that runs on the node. And
 * whoever entered from outside, which is not of its PID namespace. Nothing is read on the node itself:
 * that may be silent.
 */
async function processesOf(name: string): Promise<readonly ProcessMark[]> {
  const holder = await holderOf(name);
  const family = holder ? [...(await childrenOf(holder)), holder] : [];
  const record = await readNodeRecord(name);
  if (record === undefined) return family;
  const marks = (await allProcesses()).flatMap((pid) => markOf(pid) ?? []);
  const inside = await Promise.all(
    marks.map(async (mark) => ((await isOn(mark, record)) ? [mark] : [])),
  );
  return [...family, record.first, ...inside.flat()];
}

/**
 * A mount namespace may have the number of one that is gone, so a process is believed only if its
 * root is called after this lab.
 */
async function isOn({ pid }: ProcessMark, { settings }: NodeRecord): Promise<boolean> {
  const namespace = await readlink(`/proc/${pid}/ns/mnt`).catch(() => '');
  if (namespace !== settings.mountNamespace) return false;
  const mounts = await readFile(`/proc/${pid}/mounts`, 'utf8').catch(() => '');
  // kubediag-lab-practice / tmpfs rw,relatime,size=2097152k,mode=755 0 0
  return mounts
    .split('\n')
    .some((line) => line.startsWith(`${rootNameOf(settings.name)} / tmpfs `));
}

async function childrenOf({ pid }: ProcessMark): Promise<readonly ProcessMark[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  return text.split(' ').flatMap((child) => markOf(Number(child)) ?? []);
}

async function stuck(name: string, left: readonly ProcessMark[]): Promise<Refusal> {
  const named = await namedProcesses(left.filter(isAlive).map(({ pid }) => pid));
  return new Refusal(
    `the practice node "${name}" is not down`,
    `processes do not end: ${named}. They were killed and still wait in the kernel`,
    `end whoever serves the files that they wait for, then: kubediag lab down --name ${name}`,
  );
}
