import type { Maybe } from './evidence.ts';
import { ReadError } from './node-reader.ts';

/** A read that may fail without ending the check, with the error as a value. */
export type Attempt<T> = Maybe<T> & ({ readonly known: true } | { readonly error: ReadError });

/** For evidence with alternative sources: the only place below checkup where a failed read is caught. */
export async function attempt<T>(read: Promise<T>): Promise<Attempt<T>> {
  try {
    return { known: true, value: await read };
  } catch (error) {
    if (!(error instanceof ReadError)) throw error;
    return { known: false, why: error.message, error };
  }
}
