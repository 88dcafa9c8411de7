import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { takeSnapshot } from '../../src/node/checkup/take-snapshot.ts';
import type { Action } from '../../src/node/model/action.ts';
import { LiveNode } from '../../src/node/reader/live-node.ts';
import { openRepair } from '../../src/node/repair/open-repair.ts';
import { readerCommand } from '../reader-command.ts';

/**
 * Removes leftover directories on the real kernel after something has changed since they were diagnosed,
 * and prints what came of it as JSON. Started by remove-empty-directory.kernel.test.ts as the first
 * process of private mount and PID namespaces.
 */
const [scenario = '', scratch = ''] = process.argv.slice(2);
const ROOT = join(scratch, 'kubelet');
const PLUGIN = 'transwarp.io~tosdisk';
const UID = '6f1c2a9e-0b51-4d0c-9a3e-1f2a3b4c5d6e';
const VOLUMES = join(ROOT, 'pods', UID, 'volumes', PLUGIN);
const NAMES = ['a.deleting~1', 'a.deleting~2', 'a.deleting~3'];
const at = (name: string) => join(VOLUMES, name);
const HOUR_S = 3600;

function makeOld(name: string): void {
  mkdirSync(at(name), { recursive: true });
  const then = Date.now() / 1000 - HOUR_S;
  utimesSync(at(name), then, then);
}

function pinned(names: readonly string[] = NAMES): Action<'remove-empty-directory'> {
  const leftovers = names.map((name) => `${statSync(at(name)).ino} ${name}`);
  return { kind: 'remove-empty-directory', podUid: UID, plugin: PLUGIN, leftovers };
}

const node = new LiveNode(readerCommand, { hostRoot: '/' });
const kubelet = spawn('sleep', ['600'], { stdio: 'ignore' });
kubelet.unref();

async function recover(action: Action<'remove-empty-directory'>, inBetween = () => {}) {
  const settings = { kubeletPid: kubelet.pid, kubeletRoot: ROOT };
  const opened = await openRepair({
    stateFolder: join(scratch, 'state'),
    snapshot: () => takeSnapshot(node, settings),
    permitted: new Set(['remove-empty-directory'] as const),
    remover: { ...readerCommand, arguments: ['remover'] },
  });
  if (!opened.isOpen) return { outcome: { what: opened.what } };
  const intent = { action, fault: 'leftover-volume-directory', finding: '3f9a1c' };
  const { outcome } = await opened.perform(intent, {
    onStep: ({ name }) => {
      if (name === 'intent written') inBetween();
    },
  });
  opened.close();
  return { outcome, left: readdirSync(VOLUMES).toSorted() };
}

/** Something is mounted on a path, in a mount namespace of its own. */
async function mountElsewhere(path: string): Promise<number> {
  const script = 'mount -t tmpfs held "$0" && exec sleep 600';
  const text = ['--mount', '--propagation', 'private', 'sh', '-c', script, path];
  const child = spawn('unshare', text, { stdio: 'ignore' });
  child.unref();
  const { pid = 0 } = child;
  while (!tableOf(pid).includes(` ${path} `)) await sleep(10);
  return pid;
}

function tableOf(pid: number): string {
  return readFileSync(`/proc/${pid}/mountinfo`, 'utf8');
}

const scenarios: Record<string, () => Promise<unknown>> = {
  untouched: async () => recover(pinned()),

  'mounted in another namespace': async () => {
    const action = pinned();
    const pid = await mountElsewhere(at('a.deleting~2'));
    const result = await recover(action);
    return { ...result, isStillMounted: tableOf(pid).includes(` ${at('a.deleting~2')} `) };
  },

  /** The kernel allows it: this is why all tables are checked. */
  'what rmdir does to it': async () => {
    const pid = await mountElsewhere(at('a.deleting~2'));
    rmdirSync(at('a.deleting~2'));
    return { isStillMounted: tableOf(pid).includes(` ${at('a.deleting~2')}`) };
  },

  'mounted for the kubelet': async () => {
    const action = pinned();
    spawnSync('mount', ['-t', 'tmpfs', 'held', at('a.deleting~2')]);
    return recover(action);
  },

  filled: async () => {
    const action = pinned();
    writeFileSync(join(at('a.deleting~2'), 'data'), 'left\n');
    return recover(action);
  },

  'filled after the last check': async () =>
    recover(pinned(), () => {
      mkdirSync(join(at('a.deleting~2'), 'late'));
      const then = Date.now() / 1000 - HOUR_S;
      utimesSync(at('a.deleting~2'), then, then);
    }),

  recreated: async () => {
    const action = pinned();
    renameSync(at('a.deleting~2'), join(scratch, 'kept-inode'));
    makeOld('a.deleting~2');
    return recover(action);
  },

  'recreated after the last check': async () =>
    recover(pinned(), () => {
      renameSync(at('a.deleting~2'), join(scratch, 'kept-inode'));
      makeOld('a.deleting~2');
    }),

  'too young': async () => {
    const action = pinned();
    const now = Date.now() / 1000;
    utimesSync(at('a.deleting~2'), now, now);
    return recover(action);
  },

  used: async () => {
    const action = pinned();
    const shell = spawn('sleep', ['600'], { cwd: at('a.deleting~2'), stdio: 'ignore' });
    shell.unref();
    return { ...(await recover(action)), pid: shell.pid };
  },

  'a link in the way': async () => {
    const action = pinned();
    renameSync(VOLUMES, join(scratch, 'elsewhere'));
    symlinkSync(join(scratch, 'elsewhere'), VOLUMES);
    return recover(action);
  },

  'a link in the path after the last check': async () => {
    const result = await recover(pinned(), () => {
      renameSync(VOLUMES, join(scratch, 'elsewhere'));
      symlinkSync(join(scratch, 'elsewhere'), VOLUMES);
    });
    return { ...result, elsewhere: readdirSync(join(scratch, 'elsewhere')).toSorted() };
  },

  'the volume itself': async () => {
    makeOld('a');
    return recover(pinned(['a']));
  },

  'a name that leads away': async () => {
    mkdirSync(join(ROOT, 'pods', UID, 'volumes', 'x.deleting~1'));
    const action = pinned();
    return recover({ ...action, leftovers: ['1 ../x.deleting~1'] });
  },

  gone: async () => {
    const action = pinned();
    for (const name of NAMES) rmdirSync(at(name));
    return recover(action);
  },

  /** A namespace that only a mount holds: nobody can look into it. */
  'a namespace without a process': async () => {
    const pin = join(scratch, 'pin');
    writeFileSync(pin, '');
    execFileSync('mount', ['--bind', scratch, scratch]);
    execFileSync('mount', ['--make-private', scratch]);
    execFileSync('unshare', [`--mount=${pin}`, 'true']);
    const result = await recover(pinned());
    execFileSync('umount', [pin]);
    return result;
  },

  'a namespace that an open file holds': async () => {
    const pid = await mountElsewhere(at('a.deleting~2'));
    const stored = openSync(`/proc/${pid}/ns/mnt`, 'r');
    process.kill(pid, 'SIGKILL');
    while (existsSync(`/proc/${pid}/root/proc`)) await sleep(10);
    const result = await recover(pinned());
    closeSync(stored);
    return result;
  },
};

for (const name of NAMES) makeOld(name);
const result = await scenarios[scenario]?.();
node.close();
process.stdout.write(JSON.stringify(result ?? null));
