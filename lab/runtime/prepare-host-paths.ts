import { runProgram } from '../../src/lib/process/run.ts';
import { systemProgram } from '../../src/lib/process/system-program.ts';
import { OUTPUT_BYTES_MAX, STAT_MS } from './limits.ts';

/** In a child process: a path on a silent file server would block us forever. */
const SCRIPT = `
for path do
  why=$(stat -L -- "$path" 2>&1 >/dev/null) && continue
  case $why in
    *": No such file or directory") mkdir -p -- "$path" || exit 1 ;;
    *) echo "$path"; echo "$why"; exit 2 ;;
  esac
done
`;

/**
 * Checks every host path of a new container as containerd does: creates a directory for a missing one,
 * and rejects one that cannot be checked, with the same message.
 */
export async function prepareHostPaths(paths: readonly string[]): Promise<void> {
  if (paths.length === 0) return;
  const ended = await runProgram({
    program: systemProgram('sh') ?? '/bin/sh',
    arguments: ['-c', SCRIPT, 'sh', ...paths],
    deadlineMs: STAT_MS,
    outputBytesMax: OUTPUT_BYTES_MAX,
  });
  if (ended.ended === 'exit' && ended.code === 0) return;
  if (ended.ended === 'deadline') throw new Error('context deadline exceeded');
  if (ended.ended === 'not-started') throw new Error(ended.why);
  const [path, why = ended.stderr] = ended.stdout.trimEnd().split('\n');
  // stat: cannot statx '/x': Transport endpoint is not connected
  const text = why.split(': ').at(-1)?.toLowerCase();
  throw new Error(
    `failed to generate container spec: failed to stat "${path}": stat ${path}: ${text}`,
  );
}
