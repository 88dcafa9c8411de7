import { runningLab } from './enter.ts';
import type { RunningLab } from './known-labs.ts';
import type { MakeOptions } from './lab-options.ts';
import { type CreatedLab, type LabCreateOptions, makeLab } from './make-lab.ts';
import { Refusal } from './refusal.ts';
import { settingsOf } from './settings-of.ts';

/** As for any practice node, but the name is that of one that stands, if there is any. */
export interface WithLabOptions extends Omit<MakeOptions, 'name'> {
  readonly name?: string;
}

/** A practice node for the time of one command. */
export interface AcquiredLab {
  readonly lab: () => RunningLab;
  /** Puts another one in its place; absent where it is not ours. */
  readonly remake?: () => Promise<void>;
  /** Leaves nothing of one that is ours, and one that is not as it is. */
  end(): Promise<void>;
}

/** One of our own: nobody gave it its name, so nobody is told of it before it stands. */
interface OwnLab {
  readonly name: string;
  readonly purpose: 'tour' | 'exam';
}

/** The one that was named; else one of our own, which ends with us. */
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
  const { wish, first } = await makeOwn(options, own, progress, stops);
  let created = first;
  /** Settles when nothing is being made; what then is left by this name, the last one takes away. */
  let making = Promise.resolve(created);
  return {
    lab: () => created,
    remake: async () => {
      const another = created.end().then(() => makeLab(wish, () => {}, stops));
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
): Promise<{ readonly wish: LabCreateOptions; readonly first: CreatedLab }> {
  try {
    const wish = await settingsOf({ ...options, name });
    return { wish, first: await makeLab(wish, progress, stop) };
  } catch (error) {
    const what = `the ${purpose} did not begin`;
    if (stop.aborted) {
      const why =
        'it was interrupted while its practice node was made, and nothing of that is left';
      throw new Refusal(what, why, `begin it again: kubediag lab ${purpose}`);
    }
    throw error instanceof Refusal ? new Refusal(what, error.why, error.todo) : error;
  }
}

/**
 * Does something on it and ends it, whatever comes of that. Whoever stops us ends it at once, and with
 * it whatever runs there: what fails then has failed for that reason, and counts as `stopped`.
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
  // What does not end is told at the end, to whoever waits for that.
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
