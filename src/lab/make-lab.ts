import { lstatSync, mkdirSync, writeFileSync } from 'node:fs';
import { messageOf } from '../std/message-of.ts';
import { enterAndRun } from './enter.ts';
import {
  claim,
  folderOf,
  markWhole,
  recordNode,
  recordOf,
  type StandingLab,
  stateOf,
} from './known-labs.ts';
import { FURNISH_MS } from './limits.ts';
import { makePrivateNamespaces, type PrivateNamespaces } from './namespaces.ts';
import { ownProgram, programsFor } from './own-program.ts';
import { PLACES } from './places.ts';
import { MAKE_ROOT } from './private-root.ts';
import { killIfThere } from './process-mark.ts';
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
  progress('making namespaces and a root in memory');
  makeFolder(name);
  const namespaces = await begin(wish);
  const { pid } = namespaces;
  const { mountNamespace } = await recordNode(name, pid);
  const settings = { ...wish, mountNamespace };
  writeFileSync(`/proc/${pid}/root${PLACES.settings}`, JSON.stringify(settings, null, 2));
  const lab = { name, pid, enter: namespaces.enter, settings };
  progress('starting the runtime, the kubelet and healthy pods');
  const end = () => killIfThere(pid);
  stop?.addEventListener('abort', end);
  if (stop?.aborted) end();
  await enterAndRun(lab, ['furnish'], FURNISH_MS);
  stop?.removeEventListener('abort', end);
  await markWhole(name);
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
  if (lstatSync(PLACES.lab).uid !== 0) {
    throw new Refusal(
      `there is no practice node "${name}"`,
      `${PLACES.lab} belongs to somebody else, who could have put anything there`,
      `look what it is, and remove it: ls -la ${PLACES.lab}`,
    );
  }
  mkdirSync(folderOf(name), { mode: 0o700 });
}

function notMade(name: string, error: unknown): unknown {
  if (error instanceof Refusal) return error;
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
