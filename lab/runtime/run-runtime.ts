import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { PLACES } from '../places.ts';
import { serveCalls } from './serve-calls.ts';
import { imageCalls, runtimeCalls } from './stand-in-calls.ts';
import { StandInRuntime } from './stand-in-runtime.ts';

/** The part "runtime" of a practice node: our own container runtime, until it is killed. */
export async function runRuntime([
  socket = PLACES.runtimeSocket,
]: readonly string[]): Promise<void> {
  // As the runtime is called that it stands for. Whoever looks for that finds it.
  await writeFile('/proc/self/comm', 'containerd');
  await mkdir(dirname(socket), { recursive: true });
  // One that was killed leaves its socket, and then nobody can listen there.
  await rm(socket, { force: true });
  const runtime = new StandInRuntime();
  await serveCalls(socket, {
    'runtime.v1.RuntimeService': runtimeCalls(runtime),
    'runtime.v1.ImageService': imageCalls(),
  });
  process.stdout.write('ready\n');
}
