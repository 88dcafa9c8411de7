import { runProgram } from '../../src/lib/process/run.ts';
import { systemProgram } from '../../src/lib/process/system-program.ts';
import { mountPoints } from '../mount-points.ts';
import { MOUNT_MS, MOUNT_OUTPUT_BYTES_MAX } from './limits.ts';

export async function mountInMemory(target: string): Promise<void> {
  await run('mount', '-t', 'tmpfs', 'tmpfs', target);
}

export async function bind(source: string, target: string): Promise<void> {
  await run('mount', '--bind', source, target);
}

/** As the kubelet does: neither forced nor lazy. */
export async function unmount(target: string): Promise<void> {
  await run('umount', '--no-canonicalize', target);
}

/** All mounts at a directory or below it, innermost first. */
export async function unmountBelow(folder: string): Promise<void> {
  const below = mountPoints().filter((path) => path === folder || path.startsWith(`${folder}/`));
  for (const path of below.toReversed()) await unmount(path);
}

async function run(name: string, ...args: readonly string[]): Promise<void> {
  const program = systemProgram(name);
  if (program === undefined) throw new Error(`there is no ${name} on this machine`);
  const ended = await runProgram({
    program,
    arguments: args,
    deadlineMs: MOUNT_MS,
    outputBytesMax: MOUNT_OUTPUT_BYTES_MAX,
  });
  if (ended.ended === 'exit' && ended.code === 0) return;
  const why = ended.ended === 'not-started' ? ended.why : ended.stderr.trim() || ended.ended;
  throw new Error(`${name} ${args.join(' ')}: ${why}`);
}
