import { RE2JS } from 're2js';
import { messageOf } from '../../lib/std/message-of.ts';
import { PATTERN_CHARACTERS_MAX, PATTERN_STEPS_MAX } from './limits.ts';

/** A compiled pattern, or why it is invalid. */
export type ReadPattern =
  | { readonly ok: true; readonly steps: number; readonly matches: (text: string) => boolean }
  | { readonly ok: false; readonly why: string };

/**
 * Compiles a pattern of RE2, which may match anywhere in a string. RE2 never backtracks: the work for
 * each character is limited by the number of instructions.
 */
export function readPattern(pattern: string): ReadPattern {
  if (pattern.length > PATTERN_CHARACTERS_MAX) {
    const why = `${pattern.length} characters, and the limit is ${PATTERN_CHARACTERS_MAX}`;
    return { ok: false, why };
  }
  try {
    const compiled = RE2JS.compile(pattern);
    const steps = compiled.programSize();
    if (steps <= PATTERN_STEPS_MAX) {
      return { ok: true, steps, matches: (text) => compiled.test(text) };
    }
    const why = `too many repetitions: ${steps} instructions, and the limit is ${PATTERN_STEPS_MAX}`;
    return { ok: false, why };
  } catch (error) {
    // The message of Go: error parsing regexp: missing closing ): `(alert1`
    return { ok: false, why: messageOf(error) };
  }
}
