import { mkdirSync, readdirSync } from 'node:fs';
import { mountPoints } from '../mount-points.ts';
import type { PracticeNode } from '../practice-node.ts';
import { someThreadWaits } from '../server-wait.ts';

/** A file server that answers until it is told to fall silent. */
export interface VolumeServer {
  /** What is asked from now on is never answered, as when the network to a server is gone. */
  stopResponding(): void;
  /** Whoever asks from now on gets an error, at once. */
  end(): void;
}

/** Mounts an empty filesystem on each of these folders, whose server answers at once, or late. */
export async function serveVolumes(
  node: PracticeNode,
  manner: 'healthy' | 'slow',
  ...targets: readonly string[]
): Promise<VolumeServer> {
  for (const target of targets) mkdirSync(target, { recursive: true });
  const pid = await node.startPart('file-server', `--${manner}`, ...targets);
  await node.until(`a filesystem is mounted on ${targets.join(', ')}`, () =>
    targets.every((target) => mountPoints().includes(target)),
  );
  return {
    stopResponding: () => void process.kill(pid, 'SIGUSR2'),
    end: () => void process.kill(pid, 'SIGKILL'),
  };
}

/** Waits until the kubelet hangs on a silent volume. What it says of itself follows by and by. */
export async function untilItHangs(node: PracticeNode): Promise<void> {
  await node.until('the kubelet waits for a silent server', someoneWaits);
}

/** Whoever it is, it is the kubelet: nobody else of the node has looked at the volume yet. */
function someoneWaits(): boolean {
  return readdirSync('/proc').some((name) => Number(name) > 0 && someThreadWaits(name));
}
