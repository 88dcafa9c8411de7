import { LOG_BYTES } from '../../src/node/evidence/limits.ts';
import { linesIn } from '../../src/node/evidence/logs/log-entries.ts';
import type { OptionalReads } from '../describe-fault.ts';
import { type NodeMaker, type SyntheticNodes, syntheticNodes } from '../synthetic-node.ts';
import {
  CLOCK,
  type SyntheticEntry,
  type SyntheticNodeWithVolumes,
  type SyntheticProcess,
  syntheticNodeWithVolumes,
} from '../synthetic-volumes.ts';
import { KUBELET_ROOT, POD_UID } from '../synthetic-worker.ts';

const MINUTE_MS = 60_000;
const OTHER_UID = '7c1d2e3f-0a1b-4c2d-8e3f-9a0b1c2d3e4f';
const EXPORTER_UID = 'aaaaaaaa-0000-4000-8000-000000000001';
const TOSDISK = 'transwarp.io~tosdisk';
const PVC = 'pvc-f39e86b9-019b-11e8-b2c9-0cc47ae2b22c';
const VOLUMES = `${KUBELET_ROOT}/pods/${POD_UID}/volumes`;

/** So many leftovers of a volume, the first a week old, each an hour younger. */
function leftovers(
  volume: string,
  count: number,
  entry: SyntheticEntry = {},
): Record<string, SyntheticEntry> {
  const created: Record<string, SyntheticEntry> = {};
  for (let index = 0; index < count; index += 1) {
    const digits = String(859_156_558 - index * 31_415_927).padStart(9, '0');
    const ageMs = (7 * 24 - index) * 60 * MINUTE_MS;
    created[`${volume}.deleting~${digits}`] = { ageMs, ...entry };
  }
  return created;
}

const pod = (uid = POD_UID, name = 'web-0') => ({
  metadata: { name, namespace: 'default', uid },
  spec: { restartPolicy: 'Always', containers: [{ name: 'app' }] },
  status: { phase: 'Running' },
});

const live = { pods: [pod()] } as const;
/** A pod of the API server in the kubelet's list shows that the list is whole. */
const elsewhere = {
  ...pod(OTHER_UID, 'web-1'),
  metadata: {
    name: 'web-1',
    namespace: 'default',
    uid: OTHER_UID,
    annotations: { 'kubernetes.io/config.source': 'api' },
  },
};

const orphan = { pods: [elsewhere], sandboxes: [] } as const;
/** The kubelet has not heard the API server, or there is none for it. */
const listNotWhole = { pods: [], sandboxes: [] } as const;

const rootLine = '900 800 254:1 / /host rw,relatime - ext4 /dev/vda1 rw';
const overlay = '800 1 0:60 / / rw,relatime - overlay overlay rw';

/** A container that sees the node's root at /host, with what was mounted when it was started. */
const exporter = (...mounts: readonly string[]): SyntheticProcess => ({
  pid: 2177,
  name: 'node_exporter',
  namespace: 'mnt:[4026532441]',
  cgroup: `/kubepods/besteffort/pod${EXPORTER_UID}/4f0c${'0'.repeat(60)}`,
  mounts: [overlay, rootLine, ...mounts],
});

/** A container of a pod that has the volume itself mounted, and writes to it. */
const writer = (uid: string): SyntheticProcess => ({
  pid: 3301,
  name: 'mysqld',
  namespace: 'mnt:[4026532500]',
  cgroup: `/kubepods/burstable/pod${uid}/deadbeef${'0'.repeat(56)}`,
  mounts: [
    overlay,
    `930 800 254:1 ${VOLUMES}/${TOSDISK}/${PVC} /var/lib/mysql rw,relatime - ext4 /dev/vda1 rw`,
  ],
  files: [{ by: 'fd/11', path: '/var/lib/mysql/ibdata1' }],
});

/** As kubelets to 1.10 write it; newer ones change the words around the last sentence. */
const teardownLine = (plugin: string, volume: string, why: string) => {
  const folder = `${VOLUMES}/${plugin.replace('/', '~')}`;
  return (
    `E0102 03:03:52.600016     812 nestedpendingoperations.go:262] Operation for "\\"${plugin}/${volume}\\"` +
    ` (\\"${POD_UID}\\")" failed. No retries permitted until 2026-01-02 03:05:54 +0000 UTC ` +
    `(durationBeforeRetry 2m2s). Error: UnmountVolume.TearDown failed for volume "${volume}" ` +
    `(volume.spec.Name: "${volume}") pod "${POD_UID}" (UID: "${POD_UID}") with: rename ` +
    `${folder}/${volume} ${folder}/${volume}.deleting~859156558: ${why}`
  );
};

/** Nodes that have the fault. */
const faulty: Readonly<Record<string, SyntheticNodeWithVolumes>> = {
  'pile-live-pod-1.36': {
    ...live,
    version: 'v1.36.3',
    mounts: [],
    volumes: [{ plugin: TOSDISK, entries: leftovers(PVC, 12) }],
  },
  'pile-scanned-every-three-minutes': {
    ...live,
    version: 'v1.7.4',
    mounts: [],
    volumes: [{ plugin: TOSDISK, entries: leftovers(PVC, 12) }],
  },
  'orphan-1.18': {
    ...orphan,
    mounts: [],
    volumes: [{ plugin: TOSDISK, entries: leftovers(PVC, 3) }],
  },
  'orphan-1.18-with-its-base-folder': {
    ...orphan,
    mounts: [],
    volumes: [{ plugin: TOSDISK, entries: { ...leftovers(PVC, 3), [PVC]: {} } }],
  },
  'single-old': {
    ...live,
    mounts: [],
    volumes: [{ plugin: TOSDISK, entries: leftovers(PVC, 1) }],
  },
  'nested-names': {
    ...live,
    version: 'v1.6.4',
    mounts: [],
    volumes: [
      {
        plugin: 'kubernetes.io~empty-dir',
        entries: {
          'cache.deleting~355603580.deleting~682169602.deleting~871638708': {},
          'cache.deleting~355603580': {},
          'wrapped_token.deleting~7': {},
        },
      },
    ],
  },
  'held-by-another-namespace': {
    ...live,
    mounts: [],
    volumes: [{ plugin: TOSDISK, entries: { ...leftovers(PVC, 12), [PVC]: {} } }],
    inhabitants: [
      exporter(`931 900 0:318 / /host${VOLUMES}/${TOSDISK}/${PVC} rw,relatime - tmpfs tmpfs rw`),
    ],
  },
  'still-mounted-for-the-kubelet': {
    ...live,
    mounts: [`216 27 8:16 / ${VOLUMES}/${TOSDISK}/${PVC} rw,relatime - ext4 /dev/sdb rw`],
    volumes: [{ plugin: TOSDISK, entries: { ...leftovers(PVC, 12), [PVC]: {} } }],
  },
  'held-by-a-listed-pod': {
    pods: [pod(), pod(EXPORTER_UID, 'exporter-1')],
    mounts: [],
    volumes: [{ plugin: TOSDISK, entries: { ...leftovers(PVC, 12), [PVC]: {} } }],
    inhabitants: [
      exporter(`931 900 0:318 / /host${VOLUMES}/${TOSDISK}/${PVC} rw,relatime - tmpfs tmpfs rw`),
    ],
  },
  'held-by-a-pod-that-only-the-runtime-has': {
    ...live,
    sandboxes: [{}, { podUid: EXPORTER_UID, podName: 'exporter-2', podNamespace: 'monitoring' }],
    mounts: [],
    volumes: [{ plugin: TOSDISK, entries: { ...leftovers(PVC, 12), [PVC]: {} } }],
    inhabitants: [
      exporter(`931 900 0:318 / /host${VOLUMES}/${TOSDISK}/${PVC} rw,relatime - tmpfs tmpfs rw`),
    ],
  },
  'still-written-and-known-to-the-runtime': {
    version: 'v1.7.4',
    pods: [pod(OTHER_UID, 'web-0')],
    sandboxes: [],
    containers: [
      { id: 'b2', name: 'other', state: 'CONTAINER_RUNNING', podUid: OTHER_UID },
      { id: `deadbeef${'0'.repeat(56)}`, name: 'db', state: 'CONTAINER_RUNNING' },
    ],
    mounts: [],
    volumes: [
      { plugin: TOSDISK, entries: { ...leftovers(PVC, 22), [PVC]: {} } },
      { podUid: OTHER_UID, plugin: TOSDISK, entries: { [PVC]: {} } },
    ],
    inhabitants: [writer(POD_UID)],
  },
  'still-written-by-an-ended-container': {
    version: 'v1.7.4',
    pods: [pod(OTHER_UID, 'web-0')],
    sandboxes: [],
    containers: [{ id: `deadbeef${'0'.repeat(56)}`, name: 'db', state: 'CONTAINER_EXITED' }],
    mounts: [],
    volumes: [
      { plugin: TOSDISK, entries: { ...leftovers(PVC, 22), [PVC]: {} } },
      { podUid: OTHER_UID, plugin: TOSDISK, entries: { [PVC]: {} } },
    ],
    inhabitants: [writer(POD_UID)],
  },
  'volume-of-another-pod-that-nobody-writes': {
    ...live,
    mounts: [],
    volumes: [
      { plugin: TOSDISK, entries: { ...leftovers(PVC, 12), [PVC]: {}, 'pvc-2': {} } },
      { podUid: OTHER_UID, plugin: TOSDISK, entries: { 'pvc-2': {} } },
    ],
    inhabitants: [writer(POD_UID)],
  },
  'files-beside-a-pile': {
    ...live,
    mounts: [],
    volumes: [
      {
        plugin: TOSDISK,
        entries: { ...leftovers(PVC, 12), 'a.deleting~1': { type: 'file' } },
      },
    ],
  },
  'nested-names-of-two': {
    ...live,
    version: 'v1.9.11',
    mounts: [],
    volumes: [{ plugin: TOSDISK, entries: { 'cache.deleting~3.deleting~6': {} } }],
  },
  'scanned-at-the-start-since-1.10': {
    ...live,
    version: 'v1.10.0',
    mounts: [],
    volumes: [{ plugin: TOSDISK, entries: leftovers(PVC, 12) }],
  },
  'still-written-by-two': {
    version: 'v1.7.4',
    pods: [pod(OTHER_UID, 'web-0')],
    sandboxes: [],
    mounts: [],
    volumes: [
      { plugin: TOSDISK, entries: { ...leftovers(PVC, 22), [PVC]: {} } },
      { podUid: OTHER_UID, plugin: TOSDISK, entries: { [PVC]: {} } },
    ],
    inhabitants: [writer(POD_UID)],
  },
  'some-with-content': {
    ...live,
    mounts: [],
    volumes: [
      {
        plugin: TOSDISK,
        entries: { ...leftovers(PVC, 11), 'pvc-2.deleting~77': { isEmpty: false } },
      },
    ],
  },
  'all-with-content': {
    ...live,
    mounts: [],
    volumes: [{ plugin: TOSDISK, entries: leftovers(PVC, 2, { isEmpty: false }) }],
  },
  'mounted-in-another-namespace': {
    ...live,
    mounts: [],
    volumes: [{ plugin: TOSDISK, entries: leftovers('pvc-3', 1) }],
    inhabitants: [
      exporter(
        `931 900 0:318 / /host${VOLUMES}/${TOSDISK}/pvc-3.deleting~859156558 rw - tmpfs tmpfs rw`,
      ),
    ],
  },
  'mounted-for-the-kubelet': {
    ...live,
    mounts: [
      `216 27 0:318 / ${VOLUMES}/${TOSDISK}/pvc-3.deleting~859156558 rw,relatime - tmpfs tmpfs rw`,
    ],
    volumes: [{ plugin: TOSDISK, entries: leftovers('pvc-3', 1) }],
  },
  'pile-with-young-ones': {
    ...live,
    mounts: [],
    volumes: [
      { plugin: TOSDISK, entries: { ...leftovers(PVC, 10), 'a.deleting~1': { ageMs: MINUTE_MS } } },
    ],
  },
  'counted-by-the-kubelet': {
    ...live,
    mounts: [],
    volumes: [{ plugin: TOSDISK, entries: leftovers(PVC, 12) }],
    metrics: [
      'volume_manager_total_volumes{plugin_name="flexvolume-transwarp.io/tosdisk",state="actual_state_of_world"} 13',
      'volume_manager_total_volumes{plugin_name="flexvolume-transwarp.io/tosdisk",state="desired_state_of_world"} 1',
      'storage_operation_errors_total{operation_name="volume_unmount",volume_plugin="transwarp.io/tosdisk"} 4812',
    ],
  },
  'counted-and-wanted-by-its-pods': {
    ...live,
    mounts: [],
    volumes: [{ plugin: TOSDISK, entries: leftovers(PVC, 12) }],
    metrics: [
      'volume_manager_total_volumes{plugin_name="flexvolume-transwarp.io/tosdisk",state="actual_state_of_world"} 13',
      'volume_manager_total_volumes{plugin_name="flexvolume-transwarp.io/tosdisk",state="desired_state_of_world"} 13',
      'storage_operation_errors_total{operation_name="volume_unmount",volume_plugin="transwarp.io/tosdisk"} 1',
    ],
  },
  'two-pods-two-plugins': {
    pods: [pod(), pod(OTHER_UID, 'web-1')],
    mounts: [],
    volumes: [
      { plugin: TOSDISK, entries: leftovers(PVC, 12) },
      { plugin: 'kubernetes.io~nfs', entries: leftovers('data', 2) },
      { podUid: OTHER_UID, plugin: TOSDISK, entries: leftovers('pvc-9', 1) },
    ],
  },
  'namespace-not-seen': {
    ...live,
    mounts: [],
    volumes: [{ plugin: TOSDISK, entries: leftovers(PVC, 12) }],
    inhabitants: [{ pid: 4000, name: 'hidden', namespace: null }],
  },
  'without-credentials': {
    version: null,
    mounts: [],
    volumes: [{ plugin: TOSDISK, entries: leftovers(PVC, 12) }],
  },
  'orphan-1.18-list-not-whole': {
    ...listNotWhole,
    mounts: [],
    volumes: [{ plugin: TOSDISK, entries: leftovers(PVC, 3) }],
  },
  'orphan-1.36-not-empty': {
    ...orphan,
    version: 'v1.36.3',
    mounts: [],
    volumes: [{ plugin: TOSDISK, entries: leftovers(PVC, 1, { isEmpty: false }) }],
  },
};

/** Nodes that look like it and do not have it. */
const lookAlikes: Readonly<Record<string, SyntheticNodeWithVolumes>> = {
  healthy: {
    ...live,
    mounts: [],
    volumes: [
      { plugin: 'kubernetes.io~configmap', entries: { settings: {} } },
      { plugin: TOSDISK, entries: { [PVC]: {} } },
    ],
  },
  'look-alike-young': {
    ...live,
    mounts: [],
    volumes: [{ plugin: TOSDISK, entries: { 'a.deleting~1': { ageMs: 9 * MINUTE_MS } } }],
  },
  'look-alike-file': {
    ...live,
    mounts: [],
    volumes: [
      { plugin: TOSDISK, entries: leftovers(PVC, 12, { type: 'file' }) },
      { plugin: 'kubernetes.io~csi', entries: leftovers('pvc-2', 1, { type: 'link' }) },
    ],
  },
  'look-alike-names': {
    ...live,
    mounts: [],
    volumes: [
      {
        plugin: TOSDISK,
        entries: {
          [PVC]: {},
          'pvc-1.deleting~': {},
          'pvc-1.deleting~12345678901': {},
          'pvc-1.deleting~12a': {},
          'pvc-1.deleting~1.bak': {},
          '.deleting~12': {},
          'deleting~12': {},
          '..data_tmp': {},
          '..2026_05_28_20_26_40.244319292': {},
          globalmount: {},
        },
      },
      { plugin: 'odd.deleting~12', entries: { data: {} } },
      { podUid: `${POD_UID}.deleting~12`, plugin: TOSDISK, entries: { data: {} } },
    ],
  },
};

/** Nodes whose verdict is `unknown`. */
const unclear: Readonly<Record<string, SyntheticNodeWithVolumes>> = {
  'unclear-folder-not-listed': {
    ...live,
    mounts: [],
    volumes: [{ plugin: TOSDISK, entries: {}, failure: 'EIO' }],
  },
  'unclear-single-not-looked-at': {
    ...live,
    mounts: [],
    volumes: [{ plugin: TOSDISK, entries: leftovers(PVC, 1), isHung: true }],
  },
  'pile-not-looked-at': {
    ...live,
    mounts: [],
    volumes: [{ plugin: TOSDISK, entries: leftovers(PVC, 12), isHung: true }],
  },
};

/** The same node with the file that the kubelet logs to, in which it says why. */
function withLog(created: SyntheticNodeWithVolumes, ...lines: readonly string[]): NodeMaker {
  const maker = syntheticNodeWithVolumes(created);
  maker.link('/proc/812/fd/1', '/dev/null').link('/proc/812/fd/2', '/var/log/kubelet.log');
  maker.folder('/proc/812/root/var/log', ['kubelet.log']);
  const text = lines.map((line) => `${line}\n`).join('');
  const answer = linesIn([text], { now: CLOCK, modifiedMs: CLOCK.getTime() });
  const asked = { log: { file: '/proc/812/fd/2' }, containing: [], lastBytes: LOG_BYTES };
  return maker.set('log', asked, { answer });
}

const CLEANED: SyntheticNodeWithVolumes = {
  ...orphan,
  version: 'v1.36.3',
  mounts: [],
  volumes: [{ plugin: TOSDISK, entries: leftovers(PVC, 12) }],
};

/** A clean-up that began and does not end, while others of the kubelet go on. */
const linesSince = (time: string) => [
  `I0102 ${time}.100000     812 kubelet.go:2424] "SyncLoop (housekeeping)"`,
  'E0102 03:03:58.100000     812 kubelet_node_status.go:540] "Error updating node status, will retry" err="PLEG is not healthy: pleg was last seen active 1m57s ago"',
];

const TURNS = 'I0102 03:04:03.100000     812 kubelet.go:2437] "SyncLoop (housekeeping) end"';

const SKIPPED =
  'E0102 03:04:01.100000     812 kubelet.go:2412] "Skipping pod synchronization" err="container runtime is down"';

/** The same node with a kubelet that takes static pods from an address. */
function withAddress(created: SyntheticNodeWithVolumes): NodeMaker {
  const words = [
    '/usr/bin/kubelet',
    '--container-runtime-endpoint=unix:///run/containerd/containerd.sock',
    '--manifest-url=https://manifests.example/pods',
    '',
  ];
  return withLog(created, TURNS).file('/proc/812/cmdline', words.join('\0'));
}

function withSilentRuntime(created: SyntheticNodeWithVolumes): NodeMaker {
  const maker = withLog(created, TURNS);
  for (const key of maker.answers.keys()) {
    if (key.startsWith('["runtime"')) maker.answers.set(key, { failure: 'timeout' });
  }
  return maker;
}

const NO_NODE: SyntheticNodeWithVolumes = { mounts: [], volumes: [] };

const reported = (): ReadonlyMap<string, NodeMaker> =>
  new Map([
    [
      'held-by-another-namespace-on-rhel-7',
      syntheticNodeWithVolumes(faulty['held-by-another-namespace'] ?? NO_NODE).file(
        '/proc/sys/kernel/osrelease',
        '3.10.0-1160.el7.x86_64\n',
      ),
    ],
    [
      'log-rename-busy',
      withLog(
        { ...live, mounts: [], volumes: [{ plugin: TOSDISK, entries: leftovers(PVC, 12) }] },
        teardownLine('transwarp.io/tosdisk', PVC, 'device or resource busy'),
      ),
    ],
    [
      'log-of-one-of-three-folders',
      withLog(
        faulty['two-pods-two-plugins'] ?? NO_NODE,
        teardownLine('transwarp.io/tosdisk', PVC, 'device or resource busy'),
        teardownLine('transwarp.io/tosdisk', PVC, 'device or resource busy'),
      ),
    ],
    ['orphan-1.36-version-unknown', withLog({ ...CLEANED, version: null }, TURNS)],
    ['orphan-of-a-pre-release', withLog({ ...CLEANED, version: 'v1.19.0-rc.1' }, TURNS)],
    [
      'log-rename-exists',
      withLog(
        {
          ...live,
          version: 'v1.6.4',
          mounts: [],
          volumes: [{ plugin: 'kubernetes.io~empty-dir', entries: leftovers('cache', 12) }],
        },
        teardownLine('kubernetes.io/empty-dir', 'cache', 'file exists'),
      ),
    ],
    [
      'log-orphan-1.18',
      withLog(
        { ...orphan, mounts: [], volumes: [{ plugin: TOSDISK, entries: leftovers(PVC, 3) }] },
        `E0102 03:03:52.250925     812 kubelet_volumes.go:154] orphaned pod "${POD_UID}" found, but ` +
          'volume paths are still present on disk : There were a total of 1 errors similar to this. ' +
          'Turn up verbosity to see them.',
      ),
    ],
    // Its own list is empty, but it cleans up, and so has heard of all its pods.
    [
      'log-another-orphan-1.18',
      withLog(
        { ...listNotWhole, mounts: [], volumes: [{ plugin: TOSDISK, entries: leftovers(PVC, 3) }] },
        `E0102 03:03:52.250925     812 kubelet_volumes.go:154] orphaned pod "${OTHER_UID}" found, but ` +
          'volume paths are still present on disk : There were a total of 2 errors similar to this. ' +
          'Turn up verbosity to see them.',
      ),
    ],
    ['orphan-1.36-cleaned-by-kubelet', withLog(CLEANED, TURNS)],
    ['orphan-1.36-log-not-found', syntheticNodeWithVolumes(CLEANED)],
    // Its health check will say so three minutes from now.
    ['log-loop-stands-still-1.36', withLog(CLEANED, ...linesSince('03:02:01'))],
    ['log-loop-passes-over-1.36', withLog(CLEANED, SKIPPED)],
    // The page is newer than a silence of half an hour ago.
    ['look-alike-log-loop-stood-still-1.36', withLog(CLEANED, ...linesSince('02:31:07'))],
    ['orphan-1.36-list-not-whole', withLog({ ...CLEANED, ...listNotWhole }, TURNS)],
    ['orphan-1.36-loop-stands-still', withLog({ ...CLEANED, loop: 'failing' }, TURNS)],
    ['orphan-1.36-loop-not-told', withLog({ ...CLEANED, loop: null }, TURNS)],
    ['orphan-newer-than-verified', withLog({ ...CLEANED, version: 'v1.61.0' }, TURNS)],
    // Neither the kubelet nor the runtime knows it, and yet something of it runs.
    [
      'unlisted-1.36-runs-in-its-cgroup',
      withLog({ ...CLEANED, inhabitants: [{ ...writer(POD_UID), files: [] }] }, TURNS),
    ],
    ['orphan-1.36-runtime-is-silent', withSilentRuntime(CLEANED)],
    ['orphan-1.36-static-pods-from-an-address', withAddress(CLEANED)],
    // It was so a day ago: what the kubelet said then proves nothing of now.
    [
      'log-of-yesterday',
      withLog(
        {
          ...live,
          version: 'v1.36.3',
          mounts: [],
          volumes: [{ plugin: TOSDISK, entries: leftovers(PVC, 12) }],
        },
        teardownLine('transwarp.io/tosdisk', PVC, 'device or resource busy').replace(
          'E0102',
          'E0101',
        ),
      ),
    ],
    [
      'look-alike-held-without-leftovers',
      withLog(
        {
          ...live,
          mounts: [],
          volumes: [{ plugin: 'kubernetes.io~secret', entries: { 'token-dp24k': {} } }],
          inhabitants: [
            exporter(
              `931 900 0:318 / /host${VOLUMES}/kubernetes.io~secret/token-dp24k rw - tmpfs tmpfs rw`,
            ),
          ],
        },
        `E0102 03:03:52.694272     812 nestedpendingoperations.go:267] Operation for "\\"kubernetes.io/secret/${POD_UID}-token-dp24k\\" (\\"${POD_UID}\\")" failed. No retries permitted until 2026-01-02 03:05:54 (durationBeforeRetry 2m2s). Error: "UnmountVolume.TearDown failed for volume \\"token-dp24k\\" (UniqueName: \\"kubernetes.io/secret/${POD_UID}-token-dp24k\\") pod \\"${POD_UID}\\" (UID: \\"${POD_UID}\\") : remove ${VOLUMES}/kubernetes.io~secret/token-dp24k: device or resource busy"`,
      ),
    ],
  ]);

/** Every made node by the name of its fixture. */
export function nodes(): SyntheticNodes {
  return {
    ...syntheticNodes({ ...faulty, ...lookAlikes, ...unclear }, syntheticNodeWithVolumes),
    ...Object.fromEntries(reported()),
  };
}

/** Another namespace holds the volume, on a node with this kernel. */
export function heldOn(kernel: string): NodeMaker {
  const node = faulty['held-by-another-namespace'] ?? NO_NODE;
  return syntheticNodeWithVolumes(node).file('/proc/sys/kernel/osrelease', `${kernel}\n`);
}

/** What a clear node can do without. */
export const optionalReads: readonly OptionalReads[] = [
  {
    reads: /^(?:log |link \/proc\/\d+\/fd\/[12]$|folder .*\/logs?$)/,
    why: 'no leftover is old enough: the log only shows what the kubelet did about one',
    on: [
      'healthy',
      'look-alike-file',
      'look-alike-held-without-leftovers',
      'look-alike-names',
      'look-alike-young',
    ],
  },
  {
    reads: /^link \/proc\/812\/root$/,
    why: 'the kubelet would log that it cannot remove the directory, and the log does not say so',
    on: [
      'look-alike-log-loop-stood-still-1.36',
      'orphan-1.36-cleaned-by-kubelet',
      'orphan-newer-than-verified',
    ],
  },
];
