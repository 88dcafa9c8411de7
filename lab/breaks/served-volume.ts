import { mkdirSync } from 'node:fs';
import { mountPoints } from '../mount-tables.ts';
import type { PracticeNode } from '../practice-node.ts';
import { allProcesses, someThreadWaits } from '../process-mark.ts';

/** A file server that can stop responding. */
export interface VolumeServer {
  /** From now on requests hang, as with a dead network. */
  stopResponding(): void;
  /** From now on requests fail at once. */
  end(): void;
}

/** Mounts an empty filesystem on each directory, whose server answers at once, or late. */
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

/** Waits until the kubelet hangs on a silent volume. Its health check notices that later. */
export async function untilItHangs(node: PracticeNode): Promise<void> {
  // Any waiting process is the kubelet: nothing else has touched the volume yet.
  await node.until('the kubelet waits for a silent server', () =>
    allProcesses().some(someThreadWaits),
  );
}
