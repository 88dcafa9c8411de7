import { runningLab } from './enter.ts';
import type { RunningLab } from './known-labs.ts';
import { type CreatedLab, type LabCreateOptions, makeLab, settingsOf } from './make-lab.ts';
import { Refusal } from './refusal.ts';
import type { MakeOptions } from './settings.ts';

/** The options of a practice node. A name means a running node. */
export interface WithLabOptions extends Omit<MakeOptions, 'name'> {
  readonly name?: string;
}

/** A practice node for the time of one command. */
export interface AcquiredLab {
  readonly lab: () => RunningLab;
  /** Replaces the node by a new one; absent if the user created it. */
  readonly remake?: () => Promise<void>;
  /** Removes the node unless the user created it. */
  end(): Promise<void>;
}

/** A temporary practice node with a generated name. */
interface OwnLab {
  readonly name: string;
  readonly purpose: 'tour' | 'exam';
}

/** The named practice node; without a name, a new one that ends with this process. */
export async function withLab(
  options: WithLabOptions,
  own: OwnLab,
  progress: (text: string) => void,
  stop: AbortSignal,
): Promise<AcquiredLab> {
  if (options.name !== undefined) {
    const standing = await runningLab(options.name);
    return { lab: () => standing, end: async () => {} };
  }
  const ending = new AbortController();
  const stops = AbortSignal.any([stop, ending.signal]);
  const { settings, first } = await makeOwn(options, own, progress, stops);
  let created = first;
  /** Settles when no creation is in progress, so that the removal leaves nothing of this name. */
  let making = Promise.resolve(created);
  return {
    lab: () => created,
    remake: async () => {
      const another = created.end().then(() => makeLab(settings, () => {}, stops));
      making = another.catch(() => created);
      created = await another;
    },
    end: async () => {
      ending.abort();
      await (await making).end();
    },
  };
}

async function makeOwn(
  options: WithLabOptions,
  { name, purpose }: OwnLab,
  progress: (text: string) => void,
  stop: AbortSignal,
): Promise<{ readonly settings: LabCreateOptions; readonly first: CreatedLab }> {
  try {
    const settings = await settingsOf({ ...options, name });
    return { settings, first: await makeLab(settings, progress, stop) };
  } catch (error) {
    const what = `the ${purpose} did not start`;
    if (stop.aborted) {
      const why = 'it was interrupted while its practice node was created; nothing of it is left';
      throw new Refusal(what, why, `start it again: kubediag lab ${purpose}`);
    }
    throw error instanceof Refusal ? new Refusal(what, error.why, error.todo) : error;
  }
}

/**
 * Runs an action on a practice node and always ends the node afterwards. A stop ends it at once,
 * with everything that runs there: a failure after that counts as `stopped`.
 */
export async function duringLab<T>(
  acquired: Pick<AcquiredLab, 'end'>,
  action: () => Promise<T>,
  stop: AbortSignal,
  stopped: T,
): Promise<T> {
  let ending: Promise<void> | undefined;
  const end = () => {
    ending ??= acquired.end();
    return ending;
  };
  // The caller gets the error of an unfinished end below.
  const endAtOnce = () => void end().catch(() => {});
  stop.addEventListener('abort', endAtOnce, { once: true });
  try {
    return stop.aborted ? stopped : await action();
  } catch (error) {
    if (stop.aborted) return stopped;
    throw error;
  } finally {
    stop.removeEventListener('abort', endAtOnce);
    await end();
  }
}
