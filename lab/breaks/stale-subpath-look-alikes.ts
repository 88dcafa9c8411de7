import { mkdirSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import type { Break } from '../break.ts';
import { PLACES } from '../places.ts';
import type { PracticeNode } from '../practice-node.ts';
import { configMap, practicePod } from '../practice-pod.ts';
import { HABITS, tidiesUp } from './kubelet-habits.ts';
import {
  endContainers,
  newestContainers,
  runPod,
  untilItRuns,
  untilRefused,
  untilStale,
} from './pod-life.ts';
import { type LookAlike, lookAlikesOf } from './variants.ts';

const SETTINGS = { name: 'settings', configMap: { name: 'shop' } };
const BY_SUBPATH = { name: 'settings', mountPath: '/etc/app.conf', subPath: 'app.conf' };

const lookAlikes: readonly LookAlike[] = [
  {
    variant: 'empty-dir-cleared',
    about:
      'a program deletes the directory of its emptyDir that is mounted by subPath, and still runs',
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
  },
  {
    variant: 'host-path-edited',
    about: 'somebody edits a file of the node that a container mounts by subPath of a hostPath',
    make: async (node) => {
      mkdirSync('/run/shop', { recursive: true });
      writeFileSync('/run/shop/app.conf', 'first\n');
      const pod = practicePod({
        ...{ name: 'reader', uid: 'c0a10000-0000-4000-8000-000000000102' },
        volumes: [{ name: 'settings', hostPath: { path: '/run/shop' } }],
        mounts: { app: [BY_SUBPATH] },
      });
      await runPod(node, pod);
      // As editors save: rename the new file over the old one.
      writeFileSync('/run/shop/app.conf.new', 'second\n');
      renameSync('/run/shop/app.conf.new', '/run/shop/app.conf');
      await untilStale(node, pod);
    },
  },
  {
    variant: 'mount-of-a-plugin',
    about: "a plugin has mounted its own file below the kubelet's root, and deletes it",
    make: async ({ run }) => {
      const folder = `${PLACES.kubeletRoot}/plugins/shop`;
      mkdirSync(folder, { recursive: true });
      writeFileSync(`${folder}/token`, 'first\n');
      writeFileSync(`${folder}/mounted`, '');
      await run('mount', '--bind', `${folder}/token`, `${folder}/mounted`);
      rmSync(`${folder}/token`);
    },
  },
  {
    variant: 'not-a-directory',
    about: 'a file cannot be mounted by subPath because the image has a directory there',
    make: async (node) => {
      const pod = practicePod({
        ...{ name: 'mistaken', uid: 'c0a10000-0000-4000-8000-000000000103', volumes: [SETTINGS] },
        mounts: { app: [{ ...BY_SUBPATH, mountPath: '/bin' }] },
      });
      node.put(configMap('shop', { 'app.conf': 'first' }));
      node.put(pod);
      await untilRefused(node, pod, 'not a directory');
    },
  },
  {
    variant: 'changed-and-restarted',
    about:
      'a ConfigMap mounted by subPath is changed, and its container restarts with the new content',
    kubelet: HABITS.mountsAnew,
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
  },
  {
    variant: 'runs-but-once',
    about: 'a ConfigMap mounted by subPath is changed under a container that is never restarted',
    make: async (node) => {
      const pod = await runAndChange(node, 'c0a10000-0000-4000-8000-000000000105', 'Never');
      await untilStale(node, pod);
    },
  },
  {
    variant: 'finished',
    about:
      'a ConfigMap mounted by subPath is changed, and its container exits for good, as configured',
    leftOut: tidiesUp,
    make: async (node) => {
      const pod = await runAndChange(node, 'c0a10000-0000-4000-8000-000000000106', 'Never');
      await untilStale(node, pod);
      await endContainers(node, pod);
    },
  },
  {
    variant: 'volume-without-subpath',
    about: 'a ConfigMap that is mounted without subPath is changed, and its container restarts',
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
  },
  {
    variant: 'file-called-deleted',
    about: 'a file of a ConfigMap that is mounted by subPath is named "deleted", and exists',
    make: async (node) => {
      const pod = practicePod({
        ...{ name: 'named', uid: 'c0a10000-0000-4000-8000-000000000108', volumes: [SETTINGS] },
        mounts: { app: [{ name: 'settings', mountPath: '/etc/deleted', subPath: 'deleted' }] },
      });
      await runPod(node, pod, [configMap('shop', { deleted: 'orders that were deleted' })]);
    },
  },
];

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

export const staleSubpathLookAlikes: readonly Break[] = lookAlikesOf(
  'stale-subpath-mount',
  // By default a kubelet that does not remount a stale subPath; one look-alike needs the other.
  lookAlikes.map((each) => ({ kubelet: HABITS.leavesStaleMounts, ...each })),
);
