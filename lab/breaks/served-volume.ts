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

/** Mounts an empty filesystem on a directory, whose server answers at once, or late. */
export async function serveVolume(
  node: PracticeNode,
  manner: 'healthy' | 'slow',
  target: string,
): Promise<VolumeServer> {
  mkdirSync(target, { recursive: true });
  const pid = await node.startPart('file-server', `--${manner}`, target);
  await node.until(`a filesystem is mounted on ${target}`, () => mountPoints().includes(target));
  return {
    stopResponding: () => void process.kill(pid, 'SIGUSR2'),
    end: () => void process.kill(pid, 'SIGKILL'),
  };
}

/** Makes servers silent, and waits until the kubelet hangs. Its health check fails only later. */
export async function hangKubelet(
  node: PracticeNode,
  ...servers: readonly VolumeServer[]
): Promise<void> {
  for (const server of servers) server.stopResponding();
  // Any waiting process is the kubelet: nothing else has touched the volume yet.
  await node.until('the kubelet waits for a silent server', () =>
    allProcesses().some(someThreadWaits),
  );
}
