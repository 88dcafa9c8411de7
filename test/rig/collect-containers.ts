import { readdirSync, rmdirSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { connectRuntime } from '../../src/cri/client.ts';
import { commandRuntime } from '../../src/cri/commands.ts';

/**
 * Collects the containers that have ended as a kubelet since 1.19 does, in the folder that this
 * process works in: the logs first, by the pattern of the log path and a star, then the container.
 * It keeps to scratch folders, whoever starts it.
 */
export async function collectContainers(
  socket: string,
  say: (line: string) => void,
): Promise<void> {
  if (!process.cwd().startsWith(`${tmpdir()}/kubediag-`)) throw new Error('not in my own folder');
  const runtime = connectRuntime(socket);
  const commands = commandRuntime(socket);
  try {
    const { message } = await runtime.listContainers();
    for (const { id, state } of message.containers) {
      if (state !== 'CONTAINER_EXITED') continue;
      const { status } = (await runtime.containerStatus(id)).message;
      if (status?.logPath !== '') continue;
      const failure = sweep();
      if (failure === undefined) await commands.removeContainer(id);
      else say(removalLine(id, failure));
    }
  } catch {
    // The next collection tries again, as a kubelet's does.
  } finally {
    runtime.close();
    commands.close();
  }
}

interface Failure {
  readonly name: string;
  readonly words: string;
}

/** As Go removes what Glob("*") gives: in the order of the bytes, until one cannot be removed. */
function sweep(): Failure | undefined {
  const names = readdirSync('.', { encoding: 'buffer' }).toSorted((left, right) =>
    left.compare(right),
  );
  for (const name of names) {
    if (tried(() => unlinkSync(name)) === undefined) continue;
    const code = tried(() => rmdirSync(name));
    if (code === undefined || code === 'ENOENT') continue;
    const words = { ENOTEMPTY: 'directory not empty', EBUSY: 'device or resource busy' }[code];
    return { name: name.toString(), words: words ?? code };
  }
  return undefined;
}

function tried(deed: () => void): string | undefined {
  try {
    deed();
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'EIO';
  }
}

// E0602 09:35:55.243111     812 kuberuntime_gc.go:151] "Failed to remove container" err="..."
function removalLine(id: string, { name, words }: Failure): string {
  const [date = '', time = ''] = new Date().toISOString().split('T');
  const stamp = `E${date.slice(5).replace('-', '')} ${time.slice(0, -1)}000`;
  const error = `failed to remove container \\"${id}\\" log \\"${name}\\": remove ${name}: ${words}`;
  return `${stamp} ${process.pid} kuberuntime_gc.go:151] "Failed to remove container" err="${error}" containerID="${id}"`;
}
