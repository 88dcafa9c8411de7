import { spawnSync } from 'node:child_process';

/** A program with its words. */
export type Command = readonly [program: string, ...args: string[]];

/** Nothing that is compared here takes so long. */
const COMMAND_MS = 60_000;

/**
 * Runs the commands in turn, again and again, and gives the least time of each in milliseconds. A
 * program never takes less than it needs; what it takes more is the work of others on this machine.
 */
export function leastMs<K extends string>(
  commands: Readonly<Record<K, Command>>,
  rounds: number,
): Readonly<Record<K, number>> {
  const least = {} as Record<K, number>;
  // The first round fills the file cache, and is not counted.
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, command] of Object.entries(commands) as [K, Command][]) {
      const tookMs = runMs(command);
      if (round > 0) least[name] = Math.min(least[name] ?? Number.POSITIVE_INFINITY, tookMs);
    }
  }
  return least;
}

function runMs([program, ...args]: Command): number {
  const begun = performance.now();
  const { status, error, stderr } = spawnSync(program, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: COMMAND_MS,
  });
  const tookMs = performance.now() - begun;
  if (error) throw error;
  if (status !== 0) throw new Error(`${program} ended with ${status}: ${stderr.toString()}`);
  return tookMs;
}
