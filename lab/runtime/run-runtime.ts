import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { PLACES } from '../places.ts';
import { serveCalls } from './serve-calls.ts';
import { imageCalls, runtimeCalls } from './stand-in-calls.ts';
import { StandInRuntime } from './stand-in-runtime.ts';

/** The part "runtime" of a practice node: the stand-in container runtime. */
export async function runRuntime([
  socket = PLACES.runtimeSocket,
]: readonly string[]): Promise<void> {
  // The name of the runtime that it stands in for, so that checks find it.
  await writeFile('/proc/self/comm', 'containerd');
  await mkdir(dirname(socket), { recursive: true });
  // A killed runtime leaves its socket, which must be removed before listening.
  await rm(socket, { force: true });
  const runtime = new StandInRuntime();
  await serveCalls(socket, {
    'runtime.v1.RuntimeService': runtimeCalls(runtime),
    'runtime.v1.ImageService': imageCalls(),
  });
  process.stdout.write('ready\n');
}
