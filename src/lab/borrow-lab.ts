import { standingLab } from './enter.ts';
import type { StandingLab } from './known-labs.ts';
import type { MakeOptions } from './lab-options.ts';
import { type MadeLab, makeLab } from './make-lab.ts';
import { settingsOf } from './settings-of.ts';

/** As for any practice node, but the name is that of one that stands, if there is any. */
export interface BorrowOptions extends Omit<MakeOptions, 'name'> {
  readonly name?: string;
}

/** A practice node for the time of one command. */
export interface BorrowedLab {
  readonly lab: () => StandingLab;
  /** Puts another one in its place; absent where it is not ours. */
  readonly remake?: () => Promise<void>;
  /** Leaves nothing of one that is ours, and one that is not as it is. */
  end(): Promise<void>;
}

/** The one that was named; else one of our own, called by this name, which ends with us. */
export async function borrowLab(
  options: BorrowOptions,
  ownName: string,
  progress: (text: string) => void,
): Promise<BorrowedLab> {
  if (options.name !== undefined) {
    const standing = await standingLab(options.name);
    return { lab: () => standing, end: async () => {} };
  }
  const wish = await settingsOf({ ...options, name: ownName });
  let made: MadeLab = await makeLab(wish, progress);
  let isEnded = false;
  return {
    lab: () => made,
    remake: async () => {
      await made.end();
      // Whoever was told to end meanwhile is not to find another one.
      if (!isEnded) made = await makeLab(wish, () => {});
    },
    end: async () => {
      isEnded = true;
      await made.end();
    },
  };
}

/**
 * Does something on it and ends it, whatever comes of that. Whoever stops us ends it at once, and with
 * it whatever runs there: what fails then has failed for that reason, and counts as `stopped`.
 */
export async function duringLab<T>(
  borrowed: Pick<BorrowedLab, 'end'>,
  deed: () => Promise<T>,
  stop: AbortSignal,
  stopped: T,
): Promise<T> {
  let ending: Promise<void> | undefined;
  const end = () => {
    ending ??= borrowed.end();
    return ending;
  };
  const endAtOnce = () => void end();
  stop.addEventListener('abort', endAtOnce, { once: true });
  try {
    return stop.aborted ? stopped : await deed();
  } catch (error) {
    if (stop.aborted) return stopped;
    throw error;
  } finally {
    stop.removeEventListener('abort', endAtOnce);
    await end();
  }
}
