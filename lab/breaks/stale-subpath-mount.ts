import type { Break } from '../break.ts';
import { PLACES } from '../places.ts';
import type { KubernetesObject, PracticeNode } from '../practice-node.ts';
import {
  configMap,
  type PodObject,
  PRACTICE_NAMESPACE,
  practicePod,
  secret,
} from '../practice-pod.ts';
import { processChanges } from './container-changes.ts';
import { HABITS } from './kubelet-habits.ts';
import { containerNames, endContainers, runPod, untilRefused, untilStale } from './pod-life.ts';
import { faultsOf, type Variant } from './variants.ts';

/** A pod with subPath mounts, and its mounted objects with a text that changes. */
interface Patient {
  /** "configmap": the beginning of the variant's name. */
  readonly name: string;
  /** What is mounted, for a person. */
  readonly what: string;
  readonly uid: string;
  /** The containers that mount it; one by default. */
  readonly findings?: number;
  readonly pod: (text: string) => PodObject;
  readonly mounted: (text: string) => readonly KubernetesObject[];
}

const VOLUME = 'settings';
const FILE = 'app.conf';
const AT_FILE = { name: VOLUME, mountPath: '/etc/app.conf', subPath: FILE };

const ofConfigMap: Patient = {
  name: 'configmap',
  what: 'a file of a ConfigMap',
  uid: 'c0a10000-0000-4000-8000-000000000001',
  pod: () => podOf(ofConfigMap, { configMap: { name: 'shop' } }),
  mounted: (text) => [configMap('shop', { [FILE]: text })],
};

const ofSecret: Patient = {
  name: 'secret',
  what: 'a file of a Secret',
  uid: 'c0a10000-0000-4000-8000-000000000002',
  pod: () => podOf(ofSecret, { secret: { secretName: 'shop' } }),
  mounted: (text) => [secret('shop', { [FILE]: text })],
};

const ofProjected: Patient = {
  name: 'projected',
  what: 'a file of a projected volume',
  uid: 'c0a10000-0000-4000-8000-000000000003',
  pod: () => {
    const sources = [{ configMap: { name: 'shop' } }, { secret: { name: 'shop-key' } }];
    return podOf(ofProjected, { projected: { sources } });
  },
  mounted: (text) => [configMap('shop', { [FILE]: text }), secret('shop-key', { key: 'hush' })],
};

const ofDownwardApi: Patient = {
  name: 'downward-api',
  what: 'a file with the labels of the pod itself',
  uid: 'c0a10000-0000-4000-8000-000000000004',
  pod: (text) => {
    const items = [{ path: FILE, fieldRef: { fieldPath: 'metadata.labels' } }];
    return podOf(ofDownwardApi, { downwardAPI: { items } }, { labels: { release: text } });
  },
  mounted: () => [],
};

const ofFolder: Patient = {
  name: 'folder',
  what: 'a folder of a ConfigMap',
  uid: 'c0a10000-0000-4000-8000-000000000005',
  pod: () => {
    const items = [{ key: FILE, path: `conf.d/${FILE}` }];
    const mounts = { app: [{ name: VOLUME, mountPath: '/etc/conf.d', subPath: 'conf.d' }] };
    return podOf(ofFolder, { configMap: { name: 'shop', items } }, { mounts });
  },
  mounted: ofConfigMap.mounted,
};

const ofTwoContainers: Patient = {
  name: 'two-containers',
  what: 'a file of a ConfigMap, in two containers of one pod,',
  uid: 'c0a10000-0000-4000-8000-000000000006',
  findings: 2,
  pod: () => {
    const mounts = { app: [AT_FILE], sidecar: [AT_FILE] };
    return podOf(ofTwoContainers, { configMap: { name: 'shop' } }, { mounts });
  },
  mounted: ofConfigMap.mounted,
};

function podName({ name }: Pick<Patient, 'name'>): string {
  return `shop-${name}`;
}

function podOf(
  patient: Pick<Patient, 'name' | 'uid'>,
  source: Readonly<Record<string, unknown>>,
  more: Partial<Parameters<typeof practicePod>[0]> = {},
): PodObject {
  const volumes = [{ name: VOLUME, ...source }];
  const mounts = { app: [AT_FILE] };
  return practicePod({ name: podName(patient), uid: patient.uid, volumes, mounts, ...more });
}

/** Runs the pod, then changes what it mounts: the mounted file is then deleted. */
async function makeStale(patient: Patient, node: PracticeNode): Promise<PodObject> {
  await runPod(node, patient.pod('first'), patient.mounted('first'));
  const pod = patient.pod('second');
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
      findings: patient.findings ?? 1,
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
  return containerNames(patient.pod('first')).flatMap((container) =>
    signs.map((sign) => `${sign} mount ${subpathsOf(patient.uid)}/${VOLUME}/${container}/0 `),
  );
}

/** The mount also hides its mount point, which then changes. */
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
