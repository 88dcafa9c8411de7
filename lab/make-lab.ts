import { mkdirSync, writeFileSync } from 'node:fs';
import { defined } from '../src/lib/std/defined.ts';
import { diskAdvice } from '../src/lib/std/disk-advice.ts';
import { messageOf } from '../src/lib/std/message-of.ts';
import { runOnNode } from './enter.ts';
import {
  checkFolder,
  checkName,
  claim,
  folderOf,
  holderOf,
  markComplete,
  type RunningLab,
  recordNode,
  recordOf,
  stateOf,
} from './known-labs.ts';
import { SET_UP_MS } from './limits.ts';
import { makePrivateNamespaces, type PrivateNamespaces } from './namespaces.ts';
import { ownProgram, programsFor } from './own-program.ts';
import { PLACES } from './places.ts';
import { MAKE_ROOT } from './private-root.ts';
import { killMarked } from './process-mark.ts';
import { chooseKubelet } from './real-kubelet/choose-kubelet.ts';
import { Refusal } from './refusal.ts';
import { checkMachine, checkRights, refusalOf } from './requirements.ts';
import { chooseRuntime } from './runtime/choose-runtime.ts';
import type { LabSettings, MakeOptions } from './settings.ts';
import { takeDown } from './take-down.ts';

/** A lab that ends with the process that created it, unless `stay` is called. */
export interface CreatedLab extends RunningLab {
  stay(): Promise<void>;
  /** Removes it completely. */
  end(): Promise<void>;
}

export type LabCreateOptions = Omit<LabSettings, 'mountNamespace'>;

/** The settings of a lab, from the options and from what the machine has. */
export async function settingsOf(options: MakeOptions): Promise<LabCreateOptions> {
  const { name, kubelet, runtimeEndpoint: endpoint } = options;
  checkName(name);
  const what = `cannot create practice node "${name}"`;
  checkMachine(what);
  checkRights(what);
  const runtime = chooseRuntime(defined({ kind: options.runtime, endpoint }));
  return {
    name,
    runtime,
    kubelet:
      kubelet === undefined
        ? { kind: 'stand-in', version: options.kubeletVersion }
        : await chooseKubelet(kubelet, runtime),
  };
}

/**
 * Creates a practice node with everything that runs on it, after removing a dead one of this name.
 * An interruption removes everything again.
 */
export async function makeLab(
  options: LabCreateOptions,
  progress: (text: string) => void,
  stop?: AbortSignal,
): Promise<CreatedLab> {
  const { name } = options;
  checkMachine(`cannot create practice node "${name}"`);
  const claimed = await claim(name);
  if (claimed === undefined) throw inUse(name);
  try {
    if ((await stateOf(name)).is === 'up') {
      throw new Refusal(
        `practice node "${name}" already exists`,
        'names must be unique',
        `use it: kubediag lab run --name ${name} -- COMMAND; remove it: kubediag lab down --name ` +
          `${name}; or choose another name: --name OTHER`,
      );
    }
    await takeDown(name);
    return await make(options, progress, stop).catch(async (error: unknown) => {
      await takeDown(name);
      throw notMade(name, error, stop);
    });
  } finally {
    claimed.release();
  }
}

async function make(
  options: LabCreateOptions,
  progress: (text: string) => void,
  stop: AbortSignal | undefined,
): Promise<CreatedLab> {
  const { name } = options;
  stop?.throwIfAborted();
  progress('creating namespaces and a root in memory');
  makeFolder(name);
  const end = () => void endHolder(name);
  stop?.addEventListener('abort', end);
  try {
    const namespaces = await begin(options);
    stop?.throwIfAborted();
    const { first, settings } = await recordNode(options, namespaces.pid);
    writeFileSync(`/proc/${first.pid}/root${PLACES.settings}`, JSON.stringify(settings, null, 2));
    progress('starting the runtime, the kubelet and the pods');
    const setUp = [PLACES.executable, 'lab-part', 'inside', 'setUp'];
    const { code, stderr } = await runOnNode(first, setUp, SET_UP_MS);
    if (code !== 0) throw new Error(stderr.trim() || `exit code ${code}`);
    await markComplete(name);
    return created({ name, ...first, settings }, namespaces);
  } finally {
    stop?.removeEventListener('abort', end);
  }
}

/** Kills the holder, and with it everything that still waits for the node. */
async function endHolder(name: string): Promise<void> {
  const holder = await holderOf(name);
  if (holder) killMarked(holder);
}

function created(lab: RunningLab, namespaces: PrivateNamespaces): CreatedLab {
  const { name } = lab;
  return {
    ...lab,
    stay: () => namespaces.stay(),
    end: async () => {
      const claimed = await claim(name);
      await takeDown(name).finally(() => claimed?.release());
      await namespaces.ended;
    },
  };
}

async function begin(options: LabCreateOptions): Promise<PrivateNamespaces> {
  const { name } = options;
  const { file, sources } = ownProgram();
  const words = [folderOf(name), name, file, sources, ...programsFor(options)];
  return makePrivateNamespaces({
    also: ['net', 'uts'],
    begin: { lines: MAKE_ROOT, words },
    record: recordOf(name),
  }).catch((error: unknown) => {
    throw refusalOf(`cannot create practice node "${name}"`, error);
  });
}

function makeFolder(name: string): void {
  mkdirSync(PLACES.lab, { recursive: true, mode: 0o700 });
  checkFolder(name);
  mkdirSync(folderOf(name), { mode: 0o700 });
}

function notMade(name: string, error: unknown, stop: AbortSignal | undefined): unknown {
  const what = `cannot create practice node "${name}"`;
  if (stop?.aborted) {
    const again = `create it again: kubediag lab up --name ${name}`;
    return new Refusal(what, 'it was interrupted; nothing of it is left', again);
  }
  if (error instanceof Refusal) return error;
  const instead = `check ${PLACES.lab}`;
  const advice = diskAdvice(error, { isRoot: process.geteuid?.() === 0, instead });
  if (advice) return new Refusal(what, advice.why, advice.todo);
  return new Refusal(
    what,
    `a part of it did not start: ${messageOf(error)}`,
    'try again, or without the part that failed: --runtime stand-in, or without --kubelet',
  );
}

export function inUse(name: string): Refusal {
  return new Refusal(
    `practice node "${name}" is being created or removed`,
    'another kubediag process has claimed its name',
    'wait until it is done, or end it, then try again',
  );
}
