import { mkdirSync, writeFileSync } from 'node:fs';
import { diskAdvice } from '../src/lib/std/disk-advice.ts';
import { messageOf } from '../src/lib/std/message-of.ts';
import { enterAndRun } from './enter.ts';
import {
  claim,
  holderOf,
  markWhole,
  recordNode,
  recordOf,
  type StandingLab,
  stateOf,
} from './known-labs.ts';
import { checkFolder, folderOf } from './lab-folder.ts';
import { FURNISH_MS } from './limits.ts';
import { makePrivateNamespaces, type PrivateNamespaces } from './namespaces.ts';
import { ownProgram, programsFor } from './own-program.ts';
import { PLACES } from './places.ts';
import { MAKE_ROOT } from './private-root.ts';
import { killMarked } from './process-mark.ts';
import { Refusal } from './refusal.ts';
import { checkMachine, refusalOf } from './requirements.ts';
import type { LabSettings } from './settings.ts';
import { takeDown } from './take-down.ts';

/** A lab that ends with its maker, until it is told to stay. */
export interface MadeLab extends StandingLab {
  stay(): Promise<void>;
  /** Leaves nothing of it. */
  end(): Promise<void>;
}

export type LabWish = Omit<LabSettings, 'mountNamespace'>;

/**
 * Makes a practice node with all that belongs to it. What is left of a dead one is cleared first.
 * Whoever stops it finds nothing.
 */
export async function makeLab(
  wish: LabWish,
  progress: (text: string) => void,
  stop?: AbortSignal,
): Promise<MadeLab> {
  checkMachine(`there is no practice node "${wish.name}"`);
  const claimed = await claim(wish.name);
  if (claimed === undefined) throw inUse(wish.name);
  try {
    if ((await stateOf(wish.name)).is === 'up') throw taken(wish.name);
    await takeDown(wish.name);
    return await make(wish, progress, stop).catch(async (error: unknown) => {
      await takeDown(wish.name);
      throw stop?.aborted ? interrupted(wish.name) : notMade(wish.name, error);
    });
  } finally {
    claimed.release();
  }
}

async function make(
  wish: LabWish,
  progress: (text: string) => void,
  stop: AbortSignal | undefined,
): Promise<MadeLab> {
  const { name } = wish;
  stop?.throwIfAborted();
  progress('making namespaces and a root in memory');
  makeFolder(name);
  const end = () => void endHolder(name);
  stop?.addEventListener('abort', end);
  try {
    const namespaces = await begin(wish);
    stop?.throwIfAborted();
    const { first, settings } = await recordNode(wish, namespaces.pid);
    writeFileSync(`/proc/${first.pid}/root${PLACES.settings}`, JSON.stringify(settings, null, 2));
    progress('starting the runtime, the kubelet and healthy pods');
    await enterAndRun(first, ['furnish'], FURNISH_MS);
    await markWhole(name);
    return made({ name, ...first, settings }, namespaces);
  } finally {
    stop?.removeEventListener('abort', end);
  }
}

/** Then whoever waits for something of the node waits no longer: all of it ends with its holder. */
async function endHolder(name: string): Promise<void> {
  const holder = await holderOf(name);
  if (holder) killMarked(holder);
}

function made(lab: StandingLab, namespaces: PrivateNamespaces): MadeLab {
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

async function begin(wish: LabWish): Promise<PrivateNamespaces> {
  const { name } = wish;
  const { file, sources } = ownProgram();
  const words = [folderOf(name), name, file, sources, ...programsFor(wish)];
  return makePrivateNamespaces({
    also: ['net', 'uts'],
    begin: { lines: MAKE_ROOT, words },
    record: recordOf(name),
  }).catch((error: unknown) => {
    throw refusalOf(`there is no practice node "${name}"`, new Error(messageOf(error)));
  });
}

function makeFolder(name: string): void {
  mkdirSync(PLACES.lab, { recursive: true, mode: 0o700 });
  checkFolder(name);
  mkdirSync(folderOf(name), { mode: 0o700 });
}

function notMade(name: string, error: unknown): unknown {
  if (error instanceof Refusal) return error;
  const instead = `see to ${PLACES.lab}`;
  const advice = diskAdvice(error, { isRoot: process.geteuid?.() === 0, instead });
  if (advice) return new Refusal(`there is no practice node "${name}"`, advice.why, advice.todo);
  return new Refusal(
    `there is no practice node "${name}"`,
    `what belongs to it did not start: ${messageOf(error)}`,
    'try again; with other parts, if it was one of them: --runtime stand-in, without --kubelet',
  );
}

function interrupted(name: string): Refusal {
  return new Refusal(
    `there is no practice node "${name}"`,
    'it was interrupted before it was whole, and nothing of it is left',
    `make it: kubediag lab up --name ${name}`,
  );
}

function taken(name: string): Refusal {
  return new Refusal(
    `there is a practice node "${name}" already`,
    'a second one of that name would be mistaken for it',
    `use it: kubediag lab run --name ${name} -- COMMAND; take it down: kubediag lab down --name ` +
      `${name}; or give the new one another name: --name OTHER`,
  );
}

export function inUse(name: string): Refusal {
  return new Refusal(
    `the practice node "${name}" is just being made or taken down`,
    'another kubediag holds its name',
    'wait until that is done, or end it, then try again',
  );
}
