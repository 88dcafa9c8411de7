import { appendFileSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import type { Break } from '../break.ts';
import type { PracticeNode } from '../practice-node.ts';
import { type PodObject, PRACTICE_NAMESPACE, practicePod } from '../practice-pod.ts';
import { HABITS, setCollects, tidiesUp } from './kubelet-habits.ts';
import { endContainers, newestContainers, runPod } from './pod-life.ts';
import { BROKER, makeUnmanaged, untilStuckAt, whyBinIsSafe } from './unmanaged-container.ts';
import { type LookAlike, lookAlikesOf } from './variants.ts';

const lookAlikes: readonly LookAlike[] = [
  {
    variant: 'log-file-gone',
    about: 'a container exited, and somebody deletes its log: its log path is still known',
    leftOut: tidiesUp,
    make: async (node) => {
      const pod = job('c0a10000-0000-4000-8000-000000000201');
      await runPod(node, pod);
      await endContainers(node, pod);
      for (const path of await logPaths(node, pod)) rmSync(path, { force: true });
    },
  },
  {
    variant: 'log-cannot-be-removed',
    about: 'the kubelet cannot remove the log of a removed container, and logs its full path',
    leftOut: tidiesUp,
    make: async (node) => {
      const { id } = await endedElsewhere(node, 'c0a10000-0000-4000-8000-000000000202');
      const { logPath } = await node.runtime.status(id);
      // A copy beside the log: the kubelet removes everything that begins with the log path.
      mkdirSync(`${logPath}.copy`);
      writeFileSync(`${logPath}.copy/copy`, 'copy\n');
      setCollects(node, true);
      await untilStuckAt(node, `${logPath}.copy`);
    },
  },
  {
    variant: 'ended-with-log-path',
    about: 'a container that the kubelet did not create exited; it has a log path',
    leftOut: tidiesUp,
    make: async (node) => {
      await endedElsewhere(node, 'c0a10000-0000-4000-8000-000000000203');
    },
  },
  {
    variant: 'removed-since',
    about:
      'a container without a log path was removed and /bin restored manually; the log still shows it',
    leftOut: whyBinIsSafe,
    make: async (node) => {
      const { id, podId } = await makeUnmanaged(node, BROKER, 'exited');
      setCollects(node, true);
      await untilStuckAt(node, 'boot');
      await node.runtime.removeContainer(id);
      await node.runtime.removePod(podId);
      symlinkSync('usr/bin', '/bin');
    },
  },
  {
    variant: 'words-of-a-program',
    about: 'a program writes to its own log what a kubelet logs when it deletes the wrong files',
    make: async (node) => {
      const pod = job('c0a10000-0000-4000-8000-000000000204');
      await runPod(node, pod);
      const id = 'ca80f370dfb5320d7bf7dbc7eed6e7c306729f7b83d6a9ab27aad85261fbd2c8';
      const text = `failed to remove container \\"${id}\\" log \\"boot\\": remove boot: directory not empty`;
      const line = `${new Date().toISOString()} stderr F "Failed to remove container" err="${text}"\n`;
      for (const path of await logPaths(node, pod)) appendFileSync(path, line);
    },
  },
];

function job(uid: string): PodObject {
  const name = `job-${uid.slice(-3)}`;
  return practicePod({ name, uid, volumes: [], mounts: { app: [] }, restartPolicy: 'Never' });
}

async function logPaths(node: PracticeNode, pod: PodObject): Promise<readonly string[]> {
  const containers = await newestContainers(node, pod);
  const statuses = await Promise.all(containers.map(({ id }) => node.runtime.status(id)));
  return statuses.map(({ logPath }) => logPath);
}

/** An exited container of a pod that the kubelet does not know, with a log path. */
async function endedElsewhere({ runtime }: PracticeNode, uid: string): Promise<{ id: string }> {
  const pod = { name: `elsewhere-${uid.slice(-3)}`, namespace: PRACTICE_NAMESPACE, uid };
  const podId = await runtime.runPod(pod);
  const id = await runtime.createContainer(podId, pod, { name: 'app' });
  await runtime.startContainer(id);
  await runtime.stopContainer(id);
  return { id };
}

export const logPathLookAlikes: readonly Break[] = lookAlikesOf(
  'container-without-log-path',
  lookAlikes.map((each) => ({
    ...each,
    kubelet: HABITS.removesByPattern,
    make: (node) => {
      // The kubelet removes containers only if the look-alike needs that.
      setCollects(node, false);
      return each.make(node);
    },
  })),
);
