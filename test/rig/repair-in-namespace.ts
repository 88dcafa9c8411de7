import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { takeSnapshot } from '../../src/node/checkup/take-snapshot.ts';
import { type Mount, mountTable } from '../../src/node/evidence/mounts/mount-table.ts';
import type { Action } from '../../src/node/model/action.ts';
import { LiveNode } from '../../src/node/reader/live-node.ts';
import { readJournal } from '../../src/node/repair/journal.ts';
import { openRepair } from '../../src/node/repair/open-repair.ts';
import type { Step } from '../../src/node/repair/perform.ts';
import { readerCommand } from '../reader-command.ts';
import { APART, isSleeping, replaceProcess, startKillableKubelet } from './replaced-process.ts';
import { MARK, markingUmount, REAL_UMOUNT, UMOUNT, umountScript } from './umount-script.ts';

/**
 * Runs one scenario of a repair on the real kernel and prints the outcome as JSON. Started by
 * repair.kernel.test.ts as the first process of private mount and PID namespaces, so that whatever it
 * mounts and starts ends with it.
 */
const [scenario = '', scratch = '', ...rest] = process.argv.slice(2);
const ROOT = join(scratch, 'kubelet');
const STATE = join(scratch, 'state');
const POD = join(ROOT, 'pods/6f1c2a9e');
const target = (index: number) => join(POD, `volume-subpaths/settings/web/${index}`);
const payload = (stamp: number, plugin = 'configmap') =>
  join(POD, `volumes/kubernetes.io~${plugin}/settings/..2021_06_02_06_01_21.${stamp}/nginx.log`);

function run(program: string, ...args: string[]): void {
  const { status, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr}`);
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** A process that stands for the kubelet; in a mount namespace of its own when asked. */
async function startKubelet(isApart = false): Promise<number> {
  const [program, ...others] = [...(isApart ? APART : []), 'sleep', '600'];
  const child = spawn(program, others, { stdio: 'ignore' });
  child.unref(); // It ends with the namespace, and must not keep us from ending.
  const { pid = 0 } = child;
  while (!isSleeping(pid)) await sleep(10);
  return pid;
}

/** What the kubelet does when it starts the container again: the old mount goes, a new one comes. */
const EXCHANGE = `umount ${target(1)} && mount --bind ${payload(3)} ${target(1)}`;

/** Too late to stop it: it unmounts at the very moment of the signal. */
const UNMOUNT_WHEN_STOPPED = `trap '${join(scratch, REAL_UMOUNT)} "$@"; exit' TERM`;
const UNTIL_STOPPED = 'while :; do sleep 0.02; done';

/** Recovers with an umount that runs these lines before it unmounts. */
async function recoverWithSlowUmount(lines: string) {
  const kubelet = await staleNode();
  const action = await pinsOf(kubelet);
  write(payload(3), 'new\n');
  const real = join(scratch, REAL_UMOUNT);
  const script = umountScript(scratch, lines.replaceAll(/^umount/gm, real), ':');
  run('mount', '--bind', script, UMOUNT);
  const changes = await changesDuring(kubelet, () => recover(kubelet, action));
  return { ...changes, content: readFileSync(target(1), 'utf8') };
}

/** Binds a payload file as the kubelet binds a subPath, in its own namespace. */
function bind(kubelet: number, source: string, index: number): void {
  write(source, 'old\n');
  write(target(index), '');
  run('nsenter', `--mount=/proc/${kubelet}/ns/mnt`, 'mount', '--bind', source, target(index));
}

const nodes: LiveNode[] = [];

function searchIn(kubeletPid: number) {
  const node = new LiveNode(readerCommand, { hostRoot: '/' });
  nodes.push(node);
  return () => takeSnapshot(node, { kubeletPid, kubeletRoot: ROOT });
}

async function tableOf(kubelet: number): Promise<readonly Mount[]> {
  return (await searchIn(kubelet)().of(mountTable)).mounts;
}

async function pinsOf(kubelet: number, index = 1): Promise<Action<'unmount'>> {
  const mount = (await tableOf(kubelet)).findLast((one) => one.target === target(index));
  if (!mount) throw new Error(`nothing is mounted on ${target(index)}`);
  const { id, parent, device, root } = mount;
  return { kind: 'unmount', id, parent, device, root, target: mount.target };
}

async function recover(
  kubelet: number,
  action: Action<'unmount'>,
  onStep: (name: Step['name']) => void = () => {},
  onOpen: () => void = () => {},
) {
  const permitted = new Set(['unmount'] as const);
  const opened = await openRepair({ stateFolder: STATE, snapshot: searchIn(kubelet), permitted });
  if (!opened.isOpen) return { what: opened.what };
  onOpen();
  const intent = { action, fault: 'stale-subpath-mount', finding: '3f9a1c' };
  const steps: string[] = [];
  const { outcome, entry } = await opened.perform(intent, {
    onStep: ({ name }) => {
      steps.push(name);
      onStep(name);
    },
  });
  opened.close();
  return { outcome, entry, steps, settled: opened.settled };
}

/** The lines that are gone and those that are new, without what the table says of their place. */
async function changesDuring(kubelet: number, description: () => Promise<unknown>) {
  const text = async () =>
    (await tableOf(kubelet)).map((mount) => JSON.stringify({ ...mount, line: 0 }));
  const before = await text();
  const result = await description();
  const after = await text();
  const gone = before
    .filter((line) => !after.includes(line))
    .map((line) => JSON.parse(line) as Mount);
  const added = after.filter((line) => !before.includes(line)).length;
  return { result, gone: gone.map((mount) => mount.target), added };
}

/** A kubelet with one stale mount (1) and one healthy one (2). */
async function staleNode({ isApart = false, plugin = 'configmap' } = {}): Promise<number> {
  const kubelet = await startKubelet(isApart);
  bind(kubelet, payload(1, plugin), 1);
  bind(kubelet, payload(2), 2);
  rmSync(dirname(payload(1, plugin)), { recursive: true });
  return kubelet;
}

function smallDisk(): void {
  mkdirSync(STATE, { recursive: true });
  run('mount', '-t', 'tmpfs', '-o', 'size=64k,mode=700', 'small', STATE);
}

function fillDisk(): void {
  spawnSync('dd', ['if=/dev/zero', `of=${join(STATE, 'filler')}`, 'bs=4096']);
}

const scenarios: Record<string, () => Promise<unknown>> = {
  async stale() {
    const kubelet = await staleNode();
    const action = await pinsOf(kubelet);
    const changes = await changesDuring(kubelet, () => recover(kubelet, action));
    // As the kubelet does at the next start of the container.
    bind(kubelet, payload(3), 1);
    const again = readFileSync(target(1), 'utf8');
    return { ...changes, again, repeated: await recover(kubelet, action) };
  },

  async 'secret on tmpfs'() {
    const kubelet = await startKubelet();
    const volume = join(POD, 'volumes/kubernetes.io~secret/settings');
    mkdirSync(volume, { recursive: true });
    run('mount', '-t', 'tmpfs', 'tmpfs', volume);
    bind(kubelet, payload(1, 'secret'), 1);
    rmSync(dirname(payload(1, 'secret')), { recursive: true });
    const action = await pinsOf(kubelet);
    return changesDuring(kubelet, () => recover(kubelet, action));
  },

  async 'another namespace'() {
    const kubelet = await staleNode({ isApart: true });
    const action = await pinsOf(kubelet);
    const isOurs = readFileSync('/proc/self/mountinfo', 'utf8').includes(target(1));
    return { isOurs, ...(await changesDuring(kubelet, () => recover(kubelet, action))) };
  },

  async 'exchanged after the intent'() {
    const kubelet = await staleNode();
    const action = await pinsOf(kubelet);
    write(payload(3), 'new\n');
    const onStep = (name: Step['name']) => {
      if (name === 'intent written') run('sh', '-c', EXCHANGE);
    };
    const changes = await changesDuring(kubelet, () => recover(kubelet, action, onStep));
    return { ...changes, content: readFileSync(target(1), 'utf8') };
  },

  async 'exchanged while umount starts'() {
    return recoverWithSlowUmount(`${EXCHANGE}\nsleep 20`);
  },

  async 'exchanged while umount starts, and unmounted'() {
    return recoverWithSlowUmount(`${UNMOUNT_WHEN_STOPPED}\n${EXCHANGE}\n${UNTIL_STOPPED}`);
  },

  /** With a copy of all that is below, so that the path leads to another mount as before. */
  async 'covered while umount starts'() {
    const folder = join(POD, 'volume-subpaths');
    const cover = `mount --rbind ${folder} ${folder}`;
    return recoverWithSlowUmount(`${UNMOUNT_WHEN_STOPPED}\n${cover}\n${UNTIL_STOPPED}`);
  },

  async 'umount of the kubelet'() {
    const kubelet = await staleNode({ isApart: true });
    const action = await pinsOf(kubelet);
    const enter = `--mount=/proc/${kubelet}/ns/mnt`;
    run('nsenter', enter, 'mount', '--bind', markingUmount(scratch), UMOUNT);
    const changes = await changesDuring(kubelet, () => recover(kubelet, action));
    return { ...changes, isMarked: existsSync(join(scratch, MARK)) };
  },

  async 'pid reused after the intent'() {
    const kubelet = await startKillableKubelet(scratch);
    bind(kubelet, payload(1), 1);
    rmSync(dirname(payload(1)), { recursive: true });
    const onStep = (name: Step['name']) => {
      if (name === 'intent written') replaceProcess(kubelet, scratch);
    };
    const result = await recover(kubelet, await pinsOf(kubelet), onStep);
    return { result, isMarked: existsSync(join(scratch, MARK)) };
  },

  async 'umount that others may write'() {
    const kubelet = await staleNode();
    const action = await pinsOf(kubelet);
    const umount = markingUmount(scratch);
    chmodSync(umount, 0o777);
    run('mount', '--bind', umount, UMOUNT);
    const changes = await changesDuring(kubelet, () => recover(kubelet, action));
    return { ...changes, isMarked: existsSync(join(scratch, MARK)) };
  },

  async busy() {
    const kubelet = await staleNode();
    const file = openSync(target(1), 'r');
    const action = await pinsOf(kubelet);
    const holder = spawn('sleep', ['600'], { stdio: [file, 'ignore', 'ignore'] });
    holder.unref();
    return {
      holder: holder.pid,
      self: process.pid,
      ...(await changesDuring(kubelet, () => recover(kubelet, action))),
    };
  },

  /** By a directory above it: the kernel lets nobody mount on a file that was deleted. */
  async covered() {
    const kubelet = await staleNode();
    const action = await pinsOf(kubelet);
    run('mount', '-t', 'tmpfs', 'cover', join(POD, 'volume-subpaths'));
    return changesDuring(kubelet, () => recover(kubelet, action));
  },

  async stacked() {
    const kubelet = await startKubelet();
    bind(kubelet, payload(3), 1);
    bind(kubelet, payload(1), 1);
    rmSync(dirname(payload(1)), { recursive: true });
    const action = await pinsOf(kubelet);
    return changesDuring(kubelet, () => recover(kubelet, action));
  },

  async remade() {
    const kubelet = await staleNode();
    const action = await pinsOf(kubelet);
    run('umount', target(1));
    bind(kubelet, payload(3), 1);
    const now = await pinsOf(kubelet);
    return {
      isSameId: now.id === action.id,
      ...(await changesDuring(kubelet, () => recover(kubelet, action))),
    };
  },

  async 'last copy'() {
    const kubelet = await staleNode({ plugin: 'empty-dir' });
    const action = await pinsOf(kubelet);
    return changesDuring(kubelet, () => recover(kubelet, action));
  },

  async 'disk full before the intent'() {
    const kubelet = await staleNode();
    const action = await pinsOf(kubelet);
    smallDisk();
    return changesDuring(kubelet, () => recover(kubelet, action, undefined, fillDisk));
  },

  async 'disk fails after the intent'() {
    const kubelet = await staleNode();
    const action = await pinsOf(kubelet);
    smallDisk();
    const onStep = (name: Step['name']) => {
      // A real one is made read-only by the kernel, also while we hold the lock; nobody else can.
      if (name === 'intent written') run('mount', '-t', 'tmpfs', '-o', 'ro', 'tmpfs', STATE);
    };
    const changes = await changesDuring(kubelet, () => recover(kubelet, action, onStep));
    run('umount', STATE);
    const next = await recover(kubelet, action);
    return { ...changes, next };
  },

  /** Killed after the step named in the words that follow; then started again. */
  async killed() {
    const kubelet = await staleNode();
    const args = [...process.execArgv, import.meta.filename, 'die', scratch];
    const pins = JSON.stringify(await pinsOf(kubelet));
    const child = spawnSync(process.execPath, [...args, String(kubelet), pins, rest[0] ?? '']);
    const wasThere = (await tableOf(kubelet)).some((mount) => mount.target === target(1));
    const next = await recover(kubelet, JSON.parse(pins) as Action<'unmount'>);
    return {
      signal: child.signal,
      wasThere,
      next,
      unfinished: readJournal(STATE).unfinished.length,
    };
  },

  async die() {
    const [kubelet, pins = '', step] = rest;
    await recover(Number(kubelet), JSON.parse(pins) as Action<'unmount'>, (name) => {
      if (name === step) process.kill(process.pid, 'SIGKILL');
    });
  },

  async 'two at once'() {
    const kubelet = await staleNode();
    const args = [...process.execArgv, import.meta.filename, 'one of two', scratch];
    const pins = JSON.stringify(await pinsOf(kubelet));
    const runs = [1, 2].map(() => spawn(process.execPath, [...args, String(kubelet), pins]));
    return Promise.all(runs.map(async (child) => JSON.parse(await outputOf(child)) as unknown));
  },

  async 'one of two'() {
    const [kubelet, pins = ''] = rest;
    return recover(Number(kubelet), JSON.parse(pins) as Action<'unmount'>, (name) => {
      // Holds the lock until the other one has surely asked for it.
      if (name === 'acted') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500);
    });
  },

  async busybox() {
    const kubelet = await staleNode();
    const action = await pinsOf(kubelet);
    const [fake, real] = [join(scratch, 'busybox'), '/usr/bin/umount'];
    writeFileSync(fake, '#!/bin/sh\necho "BusyBox v1.35.0 (Debian) multi-call binary." >&2\n');
    run('chmod', '755', fake);
    run('mount', '--bind', fake, existsSync(real) ? real : '/bin/umount');
    return changesDuring(kubelet, () => recover(kubelet, action));
  },
};

async function outputOf(child: ChildProcess): Promise<string> {
  let output = '';
  for await (const chunk of child.stdout ?? []) output += String(chunk);
  return output;
}

const result = await scenarios[scenario]?.();
for (const node of nodes) node.close();
process.stdout.write(JSON.stringify(result ?? null));
