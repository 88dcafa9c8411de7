import { tmpdir } from 'node:os';
import { BEHAVIOURS } from '../../lab/kubelet/behaviour.ts';
import { removeContainer } from '../../lab/kubelet/collect-containers.ts';
import { klogLine, WORDINGS } from '../../lab/kubelet/wording.ts';
import { connectCommands } from '../../lab/runtime/connect-commands.ts';

/**
 * Collects the containers that have ended and have no log path, as a kubelet of 1.36 does: in the directory
 * that this process works in. It only uses scratch directories.
 */
export async function collectContainers(
  socket: string,
  say: (line: string) => void,
): Promise<void> {
  guard();
  const runtime = connectCommands(socket, 'rig');
  const [behaviour, wording] = [BEHAVIOURS['v1.36.3'], WORDINGS['v1.36.3']];
  try {
    for (const { id, state } of await runtime.containers()) {
      if (state !== 'exited' || (await runtime.status(id)).logPath !== '') continue;
      await removeContainer(id, {
        runtime,
        behaviour,
        wording,
        say: (line) => say(klogLine(line, new Date(), process.pid)),
        guard,
      });
    }
  } catch {
    // The next collection tries again, as a kubelet's does.
  } finally {
    runtime.close();
  }
}

function guard(): void {
  if (!process.cwd().startsWith(`${tmpdir()}/kubediag-`))
    throw new Error('not in my own directory');
}
