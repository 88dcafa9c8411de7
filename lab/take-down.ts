import { readFile, readlink, rm, rmdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { labCgroup, removeCgroupTree } from './cgroups.ts';
import { checkFolder, folderOf, holderOf, type NodeRecord, readNodeRecord } from './known-labs.ts';
import { CHECK_INTERVAL_MS, END_MS } from './limits.ts';
import { PLACES } from './places.ts';
import {
  allProcesses,
  childrenOf,
  isAlive,
  killMarked,
  markOf,
  namedProcesses,
  type ProcessMark,
} from './process-mark.ts';
import { Refusal } from './refusal.ts';

/**
 * Removes a lab or its remains: processes, mounts, cgroups and files. It kills only processes that
 * belong to the lab: they are in the record of its holder, or in its namespaces now.
 */
export async function takeDown(name: string): Promise<void> {
  checkFolder(name);
  const deadline = Date.now() + END_MS;
  const seen = new Map<number, ProcessMark>();
  for (;;) {
    // An ending process leaves its namespaces first, so wait for every process that was seen.
    for (const each of await processesOf(name)) seen.set(each.pid, each);
    const left = [...seen.values()].filter(isAlive);
    if (left.length === 0) break;
    if (Date.now() > deadline) throw await stuck(name, left);
    // The holder reaps the first process and then exits.
    const holder = await holderOf(name);
    const others = left.filter(({ pid }) => pid !== holder?.pid);
    for (const each of others.length > 0 ? others : left) killMarked(each);
    await sleep(CHECK_INTERVAL_MS);
  }
  await removeCgroupTree(labCgroup(name));
  await rm(folderOf(name), { recursive: true, force: true });
  // Succeeds only after the last lab, when the shared directory is empty.
  await rmdir(PLACES.lab).catch(() => {});
}

/**
 * The first process, its holder, and processes that entered from outside. The exit of the first
 * process kills the rest of its PID namespace. Reads no file of the node, because that may hang.
 */
async function processesOf(name: string): Promise<readonly ProcessMark[]> {
  const holder = await holderOf(name);
  const children = holder ? await childrenOf(holder.pid) : [];
  const family = [...children.flatMap((pid) => markOf(pid) ?? []), ...(holder ? [holder] : [])];
  const record = await readNodeRecord(name);
  if (record === undefined) return family;
  const marks = allProcesses().flatMap((pid) => markOf(pid) ?? []);
  const inside = await Promise.all(
    marks.map(async (mark) => ((await isOn(mark, record)) ? [mark] : [])),
  );
  return [...family, record.first, ...inside.flat()];
}

/**
 * The number of a mount namespace may be reused, so a process counts only if its root is named
 * after this lab.
 */
async function isOn({ pid }: ProcessMark, { settings }: NodeRecord): Promise<boolean> {
  const namespace = await readlink(`/proc/${pid}/ns/mnt`).catch(() => '');
  if (namespace !== settings.mountNamespace) return false;
  const mounts = await readFile(`/proc/${pid}/mounts`, 'utf8').catch(() => '');
  // kubediag-lab-practice / tmpfs rw,relatime,size=2097152k,mode=755 0 0
  const root = `kubediag-lab-${settings.name} / tmpfs `;
  return mounts.split('\n').some((line) => line.startsWith(root));
}

async function stuck(name: string, left: readonly ProcessMark[]): Promise<Refusal> {
  const named = await namedProcesses(left.filter(isAlive).map(({ pid }) => pid));
  return new Refusal(
    `cannot remove practice node "${name}"`,
    `processes do not end: ${named}. They were killed, but wait in the kernel`,
    `end the file server that they wait for, then: kubediag lab down --name ${name}`,
  );
}
