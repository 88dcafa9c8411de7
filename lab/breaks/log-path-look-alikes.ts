import { appendFileSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import type { Break } from '../break.ts';
import type { PracticeNode } from '../practice-node.ts';
import { type PodObject, PRACTICE_NAMESPACE, practicePod } from '../practice-pod.ts';
import { HABITS, lacks, takeOn, tidiesUp } from './kubelet-habits.ts';
import { endContainers, newestContainers, runPod } from './pod-life.ts';
import { BROKER, makeUnmanaged, untilStuckAt, whyBinIsSafe } from './unmanaged-container.ts';

/** What looks like a container without a log path, or like what comes of it, and is neither. */
type Resemblance = Pick<Break, 'variant' | 'about' | 'leftOut' | 'make'>;

const logFileGone: Resemblance = {
  variant: 'log-file-gone',
  about:
    'a container has ended, and somebody deletes its log: the path of it is known all the same',
  leftOut: tidiesUp,
  make: async (node) => {
    const pod = job('c0a10000-0000-4000-8000-000000000201');
    await runPod(node, pod);
    await endContainers(node, pod);
    for (const path of await logPaths(node, pod)) rmSync(path, { force: true });
  },
};

const removalOfALog: Resemblance = {
  variant: 'log-cannot-be-removed',
  about:
    'the kubelet cannot remove the log of a container that is gone, and names it by its whole path',
  leftOut: tidiesUp,
  make: async (node) => {
    const { id } = await endedElsewhere(node, 'c0a10000-0000-4000-8000-000000000202');
    const { logPath } = await node.runtime.status(id);
    // Somebody keeps a copy beside it, and the kubelet removes whatever begins with the log path.
    mkdirSync(`${logPath}.kept`);
    writeFileSync(`${logPath}.kept/copy`, 'kept\n');
    takeOn(HABITS.removesByPattern, node, { collects: true });
    await untilStuckAt(node, `${logPath}.kept`);
  },
};

const endedWithLogPath: Resemblance = {
  variant: 'ended-with-log-path',
  about: 'a container that was made past the kubelet has ended; it was given a log path',
  leftOut: tidiesUp,
  make: async (node) => {
    await endedElsewhere(node, 'c0a10000-0000-4000-8000-000000000203');
  },
};

const removedSince: Resemblance = {
  variant: 'removed-since',
  about:
    'a container without a log path was removed and /bin restored by hand; the log still tells of it',
  leftOut: whyBinIsSafe,
  make: async (node) => {
    const { id, podId } = await makeUnmanaged(node, BROKER, 'exited');
    takeOn(HABITS.removesByPattern, node, { collects: true });
    await untilStuckAt(node, 'boot');
    await node.runtime.removeContainer(id);
    await node.runtime.removePod(podId);
    symlinkSync('usr/bin', '/bin');
  },
};

const wordsOfAProgram: Resemblance = {
  variant: 'words-of-a-program',
  about:
    'a program writes into its own log what a kubelet says when it deletes what is not its own',
  make: async (node) => {
    const pod = job('c0a10000-0000-4000-8000-000000000204');
    await runPod(node, pod);
    const id = 'ca80f370dfb5320d7bf7dbc7eed6e7c306729f7b83d6a9ab27aad85261fbd2c8';
    const text = `failed to remove container \\"${id}\\" log \\"boot\\": remove boot: directory not empty`;
    const line = `${new Date().toISOString()} stderr F "Failed to remove container" err="${text}"\n`;
    for (const path of await logPaths(node, pod)) appendFileSync(path, line);
  },
};

function job(uid: string): PodObject {
  const name = `job-${uid.slice(-3)}`;
  return practicePod({ name, uid, volumes: [], mounts: { app: [] }, restartPolicy: 'Never' });
}

async function logPaths(node: PracticeNode, pod: PodObject): Promise<readonly string[]> {
  const containers = await newestContainers(node, pod);
  const statuses = await Promise.all(containers.map(({ id }) => node.runtime.status(id)));
  return statuses.map(({ logPath }) => logPath);
}

/** Of a pod that the kubelet does not know, with all that belongs to a container. */
async function endedElsewhere({ runtime }: PracticeNode, uid: string): Promise<{ id: string }> {
  const pod = { name: `elsewhere-${uid.slice(-3)}`, namespace: PRACTICE_NAMESPACE, uid };
  const podId = await runtime.runPod(pod);
  const id = await runtime.createContainer(podId, pod, { name: 'app' });
  await runtime.startContainer(id);
  await runtime.stopContainer(id);
  return { id };
}

/** Under a kubelet that removes by a pattern, and collects only where the resemblance asks for it. */
function lookAlike({ variant, about, leftOut, make }: Resemblance): Break {
  return {
    kind: 'look-alike',
    fault: 'container-without-log-path',
    variant,
    about,
    expected: { verdict: 'clear', repair: 'none' },
    leftOut: (settings) => lacks(HABITS.removesByPattern)(settings) ?? leftOut?.(settings),
    make: async (node) => {
      takeOn(HABITS.removesByPattern, node, { collects: false });
      await make(node);
    },
  };
}

export const logPathLookAlikes: readonly Break[] = [
  logFileGone,
  removalOfALog,
  endedWithLogPath,
  removedSince,
  wordsOfAProgram,
].map(lookAlike);
