import { RE2JS } from 're2js';
import { messageOf } from '../../lib/std/message-of.ts';
import { PATTERN_CHARACTERS_MAX, PATTERN_STEPS_MAX } from './limits.ts';

/** A pattern that can be compared, or why it is none. */
export type ReadPattern =
  | { readonly ok: true; readonly steps: number; readonly matches: (text: string) => boolean }
  | { readonly ok: false; readonly why: string };

/**
 * Reads a pattern of RE2, which may match anywhere in a text. It never goes back in one: at each
 * character there is at most as much to do as the pattern has steps.
 */
export function readPattern(pattern: string): ReadPattern {
  if (pattern.length > PATTERN_CHARACTERS_MAX) {
    const why = `it has ${pattern.length} characters, of ${PATTERN_CHARACTERS_MAX} at most`;
    return { ok: false, why };
  }
  try {
    const compiled = RE2JS.compile(pattern);
    const steps = compiled.programSize();
    if (steps <= PATTERN_STEPS_MAX) {
      return { ok: true, steps, matches: (text) => compiled.test(text) };
    }
    const why = `it repeats too much: ${steps} steps, of ${PATTERN_STEPS_MAX} at most`;
    return { ok: false, why };
  } catch (error) {
    // In the words of Go: error parsing regexp: missing closing ): `(alert1`
    return { ok: false, why: messageOf(error) };
  }
}
