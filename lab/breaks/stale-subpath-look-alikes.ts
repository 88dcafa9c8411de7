import { mkdirSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import type { Break } from '../break.ts';
import { PLACES } from '../places.ts';
import type { PracticeNode } from '../practice-node.ts';
import { configMap, practicePod } from '../practice-pod.ts';
import { HABITS, lacks, takeOn, tidiesUp } from './kubelet-habits.ts';
import {
  endContainers,
  newestContainers,
  runPod,
  untilItRuns,
  untilRefused,
  untilStale,
} from './pod-life.ts';

/** What looks like a stale subPath mount to whoever greps, and hurts nobody, or is none of it. */
type Resemblance = Pick<Break, 'variant' | 'about' | 'leftOut' | 'make'>;

const SETTINGS = { name: 'settings', configMap: { name: 'shop' } };
const BY_SUBPATH = { name: 'settings', mountPath: '/etc/app.conf', subPath: 'app.conf' };

const emptyDirCleared: Resemblance = {
  variant: 'empty-dir-cleared',
  about: 'a program deletes the folder of its emptyDir that it has mounted by subPath, and runs on',
  make: async (node) => {
    const uid = 'c0a10000-0000-4000-8000-000000000101';
    const pod = practicePod({
      ...{ name: 'cache', uid, volumes: [{ name: 'scratch', emptyDir: {} }] },
      mounts: { app: [{ name: 'scratch', mountPath: '/cache', subPath: 'pages' }] },
    });
    await runPod(node, pod);
    rmdirSync(`${PLACES.kubeletRoot}/pods/${uid}/volumes/kubernetes.io~empty-dir/scratch/pages`);
    await untilStale(node, pod);
  },
};

const hostPathEdited: Resemblance = {
  variant: 'host-path-edited',
  about: 'somebody edits a file of the node that a container has mounted by subPath of a hostPath',
  make: async (node) => {
    mkdirSync('/run/shop', { recursive: true });
    writeFileSync('/run/shop/app.conf', 'first\n');
    const pod = practicePod({
      ...{ name: 'reader', uid: 'c0a10000-0000-4000-8000-000000000102' },
      volumes: [{ name: 'settings', hostPath: { path: '/run/shop' } }],
      mounts: { app: [BY_SUBPATH] },
    });
    await runPod(node, pod);
    // As editors save: the new file takes the name of the old one.
    writeFileSync('/run/shop/app.conf.new', 'second\n');
    renameSync('/run/shop/app.conf.new', '/run/shop/app.conf');
    await untilStale(node, pod);
  },
};

const mountOfAPlugin: Resemblance = {
  variant: 'mount-of-a-plugin',
  about: 'a plugin has mounted a file of its own below the kubelet, and deletes it',
  make: async ({ run }) => {
    const folder = `${PLACES.kubeletRoot}/plugins/shop`;
    mkdirSync(folder, { recursive: true });
    writeFileSync(`${folder}/token`, 'first\n');
    writeFileSync(`${folder}/mounted`, '');
    await run('mount', '--bind', `${folder}/token`, `${folder}/mounted`);
    rmSync(`${folder}/token`);
  },
};

const noDirectory: Resemblance = {
  variant: 'not-a-directory',
  about: 'a file is to be mounted by subPath where the image has a folder, and cannot be',
  make: async (node) => {
    const pod = practicePod({
      ...{ name: 'mistaken', uid: 'c0a10000-0000-4000-8000-000000000103', volumes: [SETTINGS] },
      mounts: { app: [{ ...BY_SUBPATH, mountPath: '/bin' }] },
    });
    node.put(configMap('shop', { 'app.conf': 'first' }));
    node.put(pod);
    await untilRefused(node, pod, 'not a directory');
  },
};

const changedAndRestarted: Resemblance = {
  variant: 'changed-and-restarted',
  about:
    'a ConfigMap mounted by subPath is changed, and its container starts again on the new content',
  make: async (node) => {
    const pod = await runAndChange(node, 'c0a10000-0000-4000-8000-000000000104');
    await untilStale(node, pod);
    const [before] = await newestContainers(node, pod);
    await endContainers(node, pod);
    await node.until('the container is another one', async () => {
      const [now] = await newestContainers(node, pod);
      return now !== undefined && now.id !== before?.id;
    });
    await untilItRuns(node, pod);
  },
};

const runsButOnce: Resemblance = {
  variant: 'runs-but-once',
  about: 'a ConfigMap mounted by subPath is changed under a container that is never started again',
  make: async (node) => {
    const pod = await runAndChange(node, 'c0a10000-0000-4000-8000-000000000105', 'Never');
    await untilStale(node, pod);
  },
};

const finished: Resemblance = {
  variant: 'finished',
  about:
    'a ConfigMap mounted by subPath is changed, and its container ends and stays so, as wished',
  leftOut: tidiesUp,
  make: async (node) => {
    const pod = await runAndChange(node, 'c0a10000-0000-4000-8000-000000000106', 'Never');
    await untilStale(node, pod);
    await endContainers(node, pod);
  },
};

async function runAndChange(
  node: PracticeNode,
  uid: string,
  restartPolicy: 'Always' | 'Never' = 'Always',
) {
  const name = `changed-${uid.slice(-3)}`;
  const mounts = { app: [BY_SUBPATH] };
  const pod = practicePod({ name, uid, volumes: [SETTINGS], mounts, restartPolicy });
  await runPod(node, pod, [configMap('shop', { 'app.conf': 'first' })]);
  node.put(configMap('shop', { 'app.conf': 'second' }));
  return pod;
}

const wholeVolume: Resemblance = {
  variant: 'volume-without-subpath',
  about: 'a ConfigMap that is mounted as a whole is changed, and its container starts again',
  make: async (node) => {
    const pod = practicePod({
      ...{ name: 'whole', uid: 'c0a10000-0000-4000-8000-000000000107', volumes: [SETTINGS] },
      mounts: { app: [{ name: 'settings', mountPath: '/etc/shop' }] },
    });
    await runPod(node, pod, [configMap('shop', { 'app.conf': 'first' })]);
    node.put(configMap('shop', { 'app.conf': 'second' }));
    await endContainers(node, pod);
    await untilItRuns(node, pod);
  },
};

const fileCalledDeleted: Resemblance = {
  variant: 'file-called-deleted',
  about: 'a file of a ConfigMap that is mounted by subPath is called "deleted", and is there',
  make: async (node) => {
    const pod = practicePod({
      ...{ name: 'named', uid: 'c0a10000-0000-4000-8000-000000000108', volumes: [SETTINGS] },
      mounts: { app: [{ name: 'settings', mountPath: '/etc/deleted', subPath: 'deleted' }] },
    });
    await runPod(node, pod, [configMap('shop', { deleted: 'orders that were deleted' })]);
  },
};

/** Under a kubelet that would not repair it, unless the resemblance itself asks for another. */
function lookAlike({ variant, about, leftOut, make }: Resemblance): Break {
  const isOfNewKubelet = variant === changedAndRestarted.variant;
  const habit = isOfNewKubelet ? HABITS.mountsAnew : HABITS.leavesStaleMounts;
  return {
    kind: 'look-alike',
    fault: 'stale-subpath-mount',
    variant,
    about,
    expected: { verdict: 'clear', repair: 'none' },
    leftOut: (settings) => lacks(habit)(settings) ?? leftOut?.(settings),
    make: async (node) => {
      takeOn(habit, node);
      await make(node);
    },
  };
}

export const staleSubpathLookAlikes: readonly Break[] = [
  emptyDirCleared,
  hostPathEdited,
  mountOfAPlugin,
  noDirectory,
  changedAndRestarted,
  runsButOnce,
  finished,
  wholeVolume,
  fileCalledDeleted,
].map(lookAlike);
