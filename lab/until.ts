import { setTimeout as sleep } from 'node:timers/promises';
import { CHECK_INTERVAL_MS } from './limits.ts';

/** Looks again and again whether something is so, and says what it waited for when it never was. */
export async function until(
  what: string,
  isSo: () => Promise<boolean> | boolean,
  limitMs: number,
): Promise<void> {
  const deadline = Date.now() + limitMs;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`waited ${limitMs / 1_000} s in vain until ${what}`);
    await sleep(CHECK_INTERVAL_MS);
  }
}
