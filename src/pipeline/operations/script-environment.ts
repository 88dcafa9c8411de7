import type { StepInput } from '../steps/operation-result.ts';
import { OMITTED_BYTES_MAX } from './limits.ts';

const PREFIX = 'KUBEDIAG_PARAM_';

/**
 * The variable of a parameter: "disk.path" is in KUBEDIAG_PARAM_DISK_PATH. The prefix separates every key
 * from being a variable that means something to the system, such as LD_PRELOAD.
 */
export function variableOf(key: string): string {
  return `${PREFIX}${key.toUpperCase().replace(/[^A-Z0-9]/g, '_')}`;
}

/** Keys that share a variable: "a.b" and "a_b". */
export function sharedVariables(keys: readonly string[]): readonly (readonly string[])[] {
  const byVariable = Map.groupBy(keys, variableOf);
  return [...byVariable.values()].filter((sharing) => sharing.length > 1);
}

/**
 * The environment of a script, because every account on the node can read its arguments while it runs:
 * all parameters and results as one JSON object, and each in a variable of its own. What cannot be in
 * a variable is named, with the reason.
 */
export function scriptEnvironment(
  input: StepInput,
  spaceBytes: number,
): Readonly<Record<string, string>> {
  const given = Object.entries(input);
  const omitted = new Map<string, string>();
  for (const sharing of sharedVariables(Object.keys(input))) {
    for (const key of sharing) omitted.set(key, `shares ${variableOf(key)} with another key`);
  }
  for (const [key, value] of given) {
    if (`${key}${value}`.includes('\0')) omitted.set(key, 'holds a NUL character');
  }
  const fitting = fittingIn(given, spaceBytes);
  for (const [key] of given) if (!fitting.has(key)) omitted.set(key, 'too large');
  const reported = given.filter(([key]) => fitting.has(key));
  const reasons = fittingIn([...omitted], OMITTED_BYTES_MAX);
  return {
    KUBEDIAG_PARAMETERS: JSON.stringify(Object.fromEntries(reported)),
    ...(reasons.size === 0
      ? {}
      : { KUBEDIAG_OMITTED: JSON.stringify(Object.fromEntries(reasons)) }),
    ...Object.fromEntries(
      reported.flatMap(([key, value]) => (omitted.has(key) ? [] : [[variableOf(key), value]])),
    ),
  };
}

/** As many as fit together, the small ones first. */
function fittingIn(
  pairs: readonly (readonly [string, string])[],
  spaceBytes: number,
): ReadonlyMap<string, string> {
  const bytesOf = (pair: readonly [string, string]) => Buffer.byteLength(JSON.stringify(pair));
  const sized = pairs.map((pair) => ({ pair, bytes: bytesOf(pair) }));
  let left = spaceBytes;
  const fitting = new Map<string, string>();
  for (const { pair, bytes } of sized.toSorted((a, b) => a.bytes - b.bytes)) {
    left -= bytes;
    if (left < 0) break;
    fitting.set(...pair);
  }
  return fitting;
}
