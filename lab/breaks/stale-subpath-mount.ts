import type { Break } from '../break.ts';
import { PLACES } from '../places.ts';
import type { KubernetesObject, PracticeNode } from '../practice-node.ts';
import {
  configMap,
  type PodObject,
  PRACTICE_NAMESPACE,
  practicePod,
  secret,
  type VolumeMountManifest,
} from '../practice-pod.ts';
import { processChanges } from './container-changes.ts';
import { HABITS } from './kubelet-habits.ts';
import { endContainers, runPod, untilRefused, untilStale } from './pod-life.ts';
import { faultsOf, type Variant } from './variants.ts';

/** A pod with subPath mounts, and its mounted objects with a text that changes. */
interface Patient {
  /** "configmap": the beginning of the variant's name. */
  readonly name: string;
  /** The mounted object, for the description. */
  readonly what: string;
  readonly uid: string;
  /** The source of the volume. */
  readonly source: Readonly<Record<string, unknown>>;
  readonly mounted: (text: string) => readonly KubernetesObject[];
  readonly labels?: (text: string) => Readonly<Record<string, string>>;
  /** By container name; by default one container that mounts the file. */
  readonly mounts?: Readonly<Record<string, readonly VolumeMountManifest[]>>;
}

const VOLUME = 'settings';
const FILE = 'app.conf';
const AT_FILE = { name: VOLUME, mountPath: '/etc/app.conf', subPath: FILE };

const ofConfigMap: Patient = {
  name: 'configmap',
  what: 'a file of a ConfigMap',
  uid: 'c0a10000-0000-4000-8000-000000000001',
  source: { configMap: { name: 'shop' } },
  mounted: (text) => [configMap('shop', { [FILE]: text })],
};

const ofSecret: Patient = {
  name: 'secret',
  what: 'a file of a Secret',
  uid: 'c0a10000-0000-4000-8000-000000000002',
  source: { secret: { secretName: 'shop' } },
  mounted: (text) => [secret('shop', { [FILE]: text })],
};

const ofProjected: Patient = {
  name: 'projected',
  what: 'a file of a projected volume',
  uid: 'c0a10000-0000-4000-8000-000000000003',
  source: {
    projected: { sources: [{ configMap: { name: 'shop' } }, { secret: { name: 'shop-key' } }] },
  },
  mounted: (text) => [configMap('shop', { [FILE]: text }), secret('shop-key', { key: 'hush' })],
};

const ofDownwardApi: Patient = {
  name: 'downward-api',
  what: 'a file with the labels of the pod itself',
  uid: 'c0a10000-0000-4000-8000-000000000004',
  source: { downwardAPI: { items: [{ path: FILE, fieldRef: { fieldPath: 'metadata.labels' } }] } },
  mounted: () => [],
  labels: (text) => ({ release: text }),
};

const ofFolder: Patient = {
  name: 'folder',
  what: 'a directory of a ConfigMap',
  uid: 'c0a10000-0000-4000-8000-000000000005',
  source: { configMap: { name: 'shop', items: [{ key: FILE, path: `conf.d/${FILE}` }] } },
  mounted: ofConfigMap.mounted,
  mounts: { app: [{ name: VOLUME, mountPath: '/etc/conf.d', subPath: 'conf.d' }] },
};

const ofTwoContainers: Patient = {
  ...ofConfigMap,
  name: 'two-containers',
  what: 'a file of a ConfigMap, in two containers of one pod,',
  uid: 'c0a10000-0000-4000-8000-000000000006',
  mounts: { app: [AT_FILE], sidecar: [AT_FILE] },
};

function podName({ name }: Patient): string {
  return `shop-${name}`;
}

function mountsIn({ mounts = { app: [AT_FILE] } }: Patient): NonNullable<Patient['mounts']> {
  return mounts;
}

function podOf(patient: Patient, text: string): PodObject {
  const { uid, source, labels } = patient;
  return practicePod({
    ...{ name: podName(patient), uid, volumes: [{ name: VOLUME, ...source }] },
    mounts: mountsIn(patient),
    labels: labels?.(text) ?? {},
  });
}

/** Runs the pod, then changes the mounted object, so that the kubelet deletes the mounted file. */
async function makeStale(patient: Patient, node: PracticeNode): Promise<PodObject> {
  await runPod(node, podOf(patient, 'first'), patient.mounted('first'));
  const pod = podOf(patient, 'second');
  for (const object of [...patient.mounted('second'), pod]) node.put(object);
  await untilStale(node, pod);
  return pod;
}

/** The container exits, the kubelet restarts it with the old mount, and the runtime refuses. */
function active(patient: Patient): Variant {
  return {
    variant: `${patient.name}-active`,
    about: `${patient.what} is mounted by subPath and then changed, and the container cannot start again`,
    expected: {
      verdict: 'found',
      state: 'active',
      findings: Object.keys(mountsIn(patient)).length,
      repair: 'done',
      // The kubelet then remounts the subPath and starts the container.
      must: [
        ...mountsOf(patient, '-', '+'),
        `+ container ${PRACTICE_NAMESPACE}/${podName(patient)} `,
      ],
      changes: [...mountChanges(patient), ...startChanges(patient)],
    },
    kubelet: HABITS.leavesStaleMounts,
    make: async (node) => {
      const pod = await makeStale(patient, node);
      await endContainers(node, pod);
      await untilRefused(node, pod);
    },
  };
}

/** The container still runs with the old content; only its next start would fail. */
function latent(patient: Patient): Variant {
  return {
    variant: `${patient.name}-latent`,
    about: `${patient.what} is mounted by subPath and then changed, while the container runs on`,
    expected: {
      verdict: 'found',
      state: 'latent',
      repair: 'done',
      recoverWith: ['--latent'],
      must: mountsOf(patient, '-'),
      changes: mountChanges(patient),
    },
    kubelet: HABITS.leavesStaleMounts,
    make: async (node) => void (await makeStale(patient, node)),
  };
}

/** The same under a kubelet that remounts it when the container restarts. */
function benign(patient: Patient): Variant {
  return {
    variant: `${patient.name}-benign`,
    about: `${patient.what} is mounted by subPath and then changed, under a kubelet that repairs it`,
    expected: { verdict: 'clear', state: 'benign', repair: 'none' },
    kubelet: HABITS.mountsAnew,
    make: async (node) => void (await makeStale(patient, node)),
  };
}

/** The mount of each container is removed or added. */
function mountsOf(patient: Patient, ...signs: readonly ('-' | '+')[]): readonly string[] {
  return Object.keys(mountsIn(patient)).flatMap((container) =>
    signs.map((sign) => `${sign} mount ${subpathsOf(patient.uid)}/${VOLUME}/${container}/0 `),
  );
}

/** A mount covers its mount point, so the file line of the mount point changes too. */
function mountChanges({ uid }: Patient): readonly string[] {
  return announced('mount', 'file').map((start) => `${start} ${subpathsOf(uid)}/`);
}

/**
 * A restarted container is a new one, with a process, mounts, a log and a termination log. Those of
 * earlier attempts are removed.
 */
function startChanges(patient: Patient): readonly string[] {
  const { uid } = patient;
  const name = podName(patient);
  const folders = [
    `${PLACES.podLogs}/${PRACTICE_NAMESPACE}_${name}_${uid}/`,
    `${PLACES.kubeletRoot}/pods/${uid}/containers/`,
  ];
  return [
    ...announced('container').map((start) => `${start} ${PRACTICE_NAMESPACE}/${name} `),
    ...announced('file').flatMap((start) => folders.map((folder) => `${start} ${folder}`)),
    ...processChanges('+', uid),
  ];
}

function announced(...things: readonly string[]): readonly string[] {
  return things.flatMap((thing) => [`- ${thing}`, `+ ${thing}`]);
}

function subpathsOf(uid: string): string {
  return `${PLACES.kubeletRoot}/pods/${uid}/volume-subpaths`;
}

/** All volumes that a kubelet updates atomically. */
const EVERY_SOURCE = [ofConfigMap, ofSecret, ofProjected, ofDownwardApi];

const TOUR: Break['tour'] = {
  title: 'The container that cannot start again',
  story:
    'A pod mounts one file of a ConfigMap by subPath. Somebody changes the ConfigMap, and nothing ' +
    'happens for weeks. Then the container exits, and an older kubelet restarts it with a mount ' +
    'whose file was deleted long ago. It never starts again, although the pod was not changed.',
  recoverWith: ['--wait'],
};

export const staleSubpathMount: readonly Break[] = faultsOf('stale-subpath-mount', [
  { ...active(ofConfigMap), tour: TOUR },
  ...[ofSecret, ofProjected, ofDownwardApi, ofFolder, ofTwoContainers].map(active),
  ...EVERY_SOURCE.map(latent),
  ...EVERY_SOURCE.map(benign),
]);
