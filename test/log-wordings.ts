import { SIGNATURES } from '../src/node/evidence/logs/log-signatures.ts';
import { logSignatures } from '../src/node/faults/index.ts';

/** What evidence reads in logs, and what faults do. */
export const ALL_SIGNATURES = [...SIGNATURES, ...logSignatures];

/** What a kubelet or a neighbour of it says, in the words of some version, and what is to be read. */
export interface Wording {
  readonly signature: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, string>>;
}

const ID = 'ca80f370dfb5320d7bf7dbc7eed6e7c306729f7b83d6a9ab27aad85261fbd2c8';
const UID = '49e7a02c-0f1f-11e7-888f-42010a8a0004';
const PODS = `/var/lib/kubelet/pods/${UID}`;
const VOLUME = `${PODS}/volumes/kubernetes.io~csi/pvc-1`;
const EMPTY_DIR = `${PODS}/volumes/kubernetes.io~empty-dir`;

function output(
  signature: string,
  message: string,
  fields: Readonly<Record<string, string>> = {},
): Wording {
  return { signature, message, fields };
}

const CLEANED = `"Cleaned up orphaned volume from pod" podUID="${UID}" path="${EMPTY_DIR}/a.deleting~1"`;
const removal = (name: string, error: string) =>
  `failed to remove container "${ID}" log "${name}": remove ${name}: ${error}`;
const BOOT = { containerId: ID, name: 'boot', error: 'directory not empty' };

export const WORDINGS: readonly Wording[] = [
  // Kubelet 1.17.12 to 1.20, from 1.21 on, and the deletor of 1.36.
  output(
    'remove-relative-log',
    `Failed to remove container "${ID}": ${removal('boot', 'directory not empty')}`,
    BOOT,
  ),
  output(
    'remove-relative-log',
    `"Failed to remove container" err="${removal('boot', 'directory not empty')}" containerID="${ID}"`,
    BOOT,
  ),
  output(
    'remove-relative-log',
    `"DeleteContainer returned error" containerID={"Type":"containerd","ID":"${ID}"} err="${removal('boot', 'directory not empty')}"`,
    BOOT,
  ),
  output(
    'remove-relative-log',
    `"Failed to remove container" err="${removal('my files', 'operation not permitted')}" containerID="${ID}"`,
    {
      name: 'my files',
      error: 'operation not permitted',
    },
  ),
  output('remove-container', `"RemoveContainer" containerID="${ID}"`, { containerId: ID }),
  output('remove-container', `[topologymanager] RemoveContainer - Container ID: ${ID}`, {
    containerId: ID,
  }),
  output(
    'remove-absolute-log',
    `"Failed to remove container" err="${removal('/var/log/pods/a_b_c/d/0.log', 'permission denied')}"`,
    {
      path: '/var/log/pods/a_b_c/d/0.log',
    },
  ),
  output(
    'log-path-empty',
    '"Failed to stat container log after reopen" err="stat : no such file or directory" path=""',
  ),
  output(
    'log-path-empty',
    `"Failed to stat container log after reopen" err="stat : no such file or directory" worker=1 containerID="${ID}" path=""`,
    {
      containerId: ID,
    },
  ),
  output(
    'log-path-empty',
    'Failed to stat container log "" after reopen: stat : no such file or directory',
  ),
  output(
    'log-path-empty',
    `"Container log doesn't exist, reopen container log failed" err="rpc error" containerID="${ID}" path=""`,
    {
      containerId: ID,
    },
  ),
  output(
    'logging-disabled',
    'Logging will be disabled due to empty log paths for sandbox ("") or container ("")',
  ),
  output(
    'nameless-sandbox',
    '"PLEG: Write status" err="metadata.Name, metadata.Namespace or metadata.Uid is not in metadata "name:"mqtt-kubeedge""" pod="mqtt-kubeedge"',
    {
      sandbox: 'mqtt-kubeedge',
    },
  ),
  output(
    'unknown-pod-killed',
    '"Clean up containers for orphaned pod we had not seen before" podUID="" killPodOptions="<internal error: json>"',
    {
      podUid: '',
    },
  ),
  output(
    'start-container-failed',
    `"StartContainer from runtime service failed" err="rpc error: code = Unknown desc = mounting "${PODS}/volume-subpaths/a/b/1" to rootfs" containerID="${ID}"`,
    {
      mount: `${PODS}/volume-subpaths/a/b/1`,
    },
  ),
  output(
    'start-container-failed',
    `StartContainer "${ID}" from runtime service failed: rpc error: code = Unknown`,
    {
      containerId: ID,
    },
  ),
  output(
    'run-container-error',
    '"Error syncing pod, skipping" err="failed to "StartContainer" for "app" with RunContainerError: "no""',
    {
      container: 'app',
    },
  ),
  // The sync loop.
  output('sync-loop', 'SyncLoop (housekeeping)', { event: 'housekeeping' }),
  output('sync-loop', '"SyncLoop (housekeeping) end"', { event: 'housekeeping', end: 'end' }),
  output('sync-loop', "SyncLoop (housekeeping, skipped): sources aren't ready yet.", {
    event: 'housekeeping',
    note: 'skipped',
  }),
  output('sync-loop', `SyncLoop (ADD, "api"): "a_default(${UID})"`, {
    event: 'ADD',
    source: 'api',
  }),
  output('sync-loop', '"SyncLoop UPDATE" source="api" pods=["default/a"]', { event: 'UPDATE' }),
  output('sync-loop', `"SyncLoop (PLEG): event for pod" pod="default/a" event={"ID":"${UID}"}`, {
    event: 'PLEG',
  }),
  output('sync-loop', '"SyncLoop (probe)" probe="readiness" status="ready" pod="default/a"', {
    event: 'probe',
  }),
  output('sync-loop', '"Starting kubelet main sync loop"', { event: 'sync loop' }),
  output(
    'sync-loop-unhealthy',
    'healthz check syncloop failed: sync Loop took longer than expected',
    {
      error: 'sync Loop took longer than expected',
    },
  ),
  output('sync-loop-unhealthy', 'healthz check failed: syncloop'),
  output('sync-loop-unhealthy', 'syncloop check failed: healthz'),
  output('sync-loop-unhealthy', '[-]syncloop failed: reason withheld', {
    error: 'reason withheld',
  }),
  output(
    'housekeeping-slow',
    '"Housekeeping took longer than 15s" err="housekeeping took too long" seconds=21.3',
    { took: '21.3' },
  ),
  output(
    'housekeeping-slow',
    '"Housekeeping took longer than expected" err="housekeeping took too long" expected="1s" actual="21.3s"',
    {
      took: '21.3s',
    },
  ),
  output('event-channel-full', '"Event channel is full, discard this relist() cycle event"'),
  output('event-channel-full', 'event channel is full, discard this relist() cycle event'),
  output(
    'sync-skipped',
    '"Skipping pod synchronization" err="[container runtime is down, PLEG is not healthy: pleg was last seen active 3m13.1s ago; threshold is 3m0s]"',
    {
      why: 'container runtime is down, PLEG is not healthy: pleg was last seen active 3m13.1s ago; threshold is 3m0s',
    },
  ),
  output(
    'sync-skipped',
    'skipping pod synchronization - [container runtime status check may not have completed yet.]',
    {
      why: 'container runtime status check may not have completed yet.',
    },
  ),
  output(
    'pleg-unhealthy',
    'skipping pod synchronization - PLEG is not healthy: pleg was last seen active 3m13.1s ago; threshold is 3m0s.',
    {
      ago: '3m13.1s',
    },
  ),
  output(
    'pleg-relist-failed',
    '"GenericPLEG: Unable to retrieve pods" err="rpc error: code = DeadlineExceeded"',
    {
      error: 'rpc error: code = DeadlineExceeded',
    },
  ),
  output(
    'watchdog',
    '"Do not notify watchdog this iteration as the kubelet is reportedly not healthy"',
  ),
  output('watchdog', 'kubelet.service: Watchdog timeout (limit 30s)!', {
    unit: 'kubelet.service',
    limit: '30s',
  }),
  // Leftover directories.
  output(
    'rename-failed',
    `UnmountVolume.TearDown failed for volume "x" (volume.spec.Name: "v") pod "${UID}" (UID: "${UID}") with: rename ${EMPTY_DIR}/v ${EMPTY_DIR}/v.deleting~355603580: file exists`,
    {
      from: `${EMPTY_DIR}/v`,
      to: `${EMPTY_DIR}/v.deleting~355603580`,
      error: 'file exists',
    },
  ),
  output(
    'teardown-failed',
    `Could not tear down volume "${UID}/v": rename ${EMPTY_DIR}/v ${EMPTY_DIR}/v.deleting~1: device or resource busy`,
    {
      podUid: UID,
      volume: 'v',
    },
  ),
  output(
    'orphaned-volume',
    `Orphaned volume "${UID}/wrapped_token.deleting~765506473" found, tearing down volume`,
    {
      podUid: UID,
      volume: 'wrapped_token.deleting~765506473',
    },
  ),
  output(
    'leftover-volume',
    `"{volumeName:kubernetes.io/empty-dir/${UID}-v.deleting~12.deleting~34 podName:${UID} nodeName:}" failed. No retries permitted until 2026-03-22 17:30:29`,
    {},
  ),
  output(
    'leftover-volume',
    `Get volumes from pod directory "/var/lib/kubelet/pods" [{podName:${UID} volumeSpecName:pvc-x.deleting~123456789 volumePath:...`,
    {
      podUid: UID,
      volume: 'pvc-x.deleting~123456789',
    },
  ),
  output(
    'reconstruction-failed',
    `Could not construct volume information, cleanup the mounts. (pod.UID ${UID}, volume.SpecName pvc-x.deleting~123456789): no volume plugin matched`,
    {
      podUid: UID,
      volume: 'pvc-x.deleting~123456789',
      error: 'no volume plugin matched',
    },
  ),
  output(
    'reconstruction-failed',
    `"Could not construct volume information, cleaning up mounts" podName="${UID}" volumeSpecName="pvc-x" err="no plugin"`,
    {
      podUid: UID,
      volume: 'pvc-x',
      error: 'no plugin',
    },
  ),
  output(
    'reconstruction-cleanup',
    '"Cleaning up mounts for volume that could not be reconstructed" volume={}',
  ),
  output(
    'reconstruction-cleanup',
    'Reconciler sync states: could not find pod information in desired or actual states or pending operation, update it in both states',
  ),
  // Orphans.
  output(
    'orphaned-pod',
    `orphaned pod "${UID}" found, but volume paths are still present on disk : There were a total of 40 errors similar to this. Turn up verbosity to see them.`,
    {
      podUid: UID,
      problem: 'volume paths are still present on disk',
      count: '40',
    },
  ),
  output(
    'orphaned-pod',
    `"There were many similar errors. Turn up verbosity to see them." err="orphaned pod "${UID}" found, but failed to rmdir() volume at path ${VOLUME}: directory not empty" numErrs=3`,
    {
      podUid: UID,
      path: VOLUME,
      error: 'directory not empty',
      count: '3',
    },
  ),
  output(
    'orphaned-pod',
    `"There were many similar errors. Turn up verbosity to see them." err="orphaned pod "${UID}" found, but error occurred when trying to remove the volumes dir: not a directory" numErrs=1`,
    {
      problem: 'error occurred when trying to remove the volumes dir',
      error: 'not a directory',
    },
  ),
  output('orphan-cleaned', CLEANED, { podUid: UID, path: `${EMPTY_DIR}/a.deleting~1` }),
  output(
    'volume-metadata-failed',
    `kubernetes.io/csi: failed to open volume data file [${VOLUME}/vol_data.json]: open ${VOLUME}/vol_data.json: no such file or directory`,
    {
      path: `${VOLUME}/vol_data.json`,
      error: 'no such file or directory',
    },
  ),
  output(
    'volume-metadata-failed',
    `kubernetes.io/csi: failed to parse volume data file [${VOLUME}/vol_data.json]: EOF`,
    {
      operation: 'parse',
      error: 'EOF',
    },
  ),
  output(
    'unmounter-failed',
    `UnmountVolume.NewUnmounter failed for volume "v" (UniqueName: "x") pod "${UID}" (UID: "${UID}") : open ${VOLUME}/vol_data.json: no such file or directory`,
    {
      volume: 'v',
      podUid: UID,
    },
  ),
  output(
    'unmount-failed',
    `UnmountVolume.TearDown failed for volume "v" (UniqueName: "x") pod "${UID}" (UID: "${UID}") : Unmount failed: exit status 32\\nUnmounting arguments: ${VOLUME}/mount\\nOutput: umount: ${VOLUME}/mount: target is busy.\\n`,
    {
      path: `${VOLUME}/mount`,
      error: 'target is busy.',
    },
  ),
  output(
    'path-busy',
    `Error: "UnmountVolume.TearDown failed for volume "t" (UniqueName: "x") pod "${UID}" (UID: "${UID}") : remove ${EMPTY_DIR}/t: device or resource busy"`,
    {
      operation: 'remove',
      path: `${EMPTY_DIR}/t`,
    },
  ),
  output(
    'path-busy',
    `"There were many similar errors" err="orphaned pod "${UID}" found, but failed to rmdir() volume at path ${VOLUME}: device or resource busy" numErrs=2`,
    { operation: 'rmdir', path: VOLUME },
  ),
  output('stale-handle', `lstat ${PODS}/volume-subpaths/a/b/2: stale NFS file handle`, {
    path: `${PODS}/volume-subpaths/a/b/2`,
  }),
  output('not-connected', `stat ${VOLUME}: transport endpoint is not connected`, { path: VOLUME }),
  output('task-blocked', 'INFO: task kubelet:4138 blocked for more than 120 seconds.', {
    pid: '4138',
  }),
  output('ceph-not-responding', 'libceph: mon0 10.0.0.1:6789 session lost, hunting for new mon', {
    server: 'mon0',
  }),
];

/** Lines that look like the first fault and are none. */
export const NO_RELATIVE_REMOVAL: readonly string[] = [
  `"Failed to remove container" err="${removal('/var/log/pods/a_b_c/d/0.log', 'permission denied')}"`,
  `"Failed to remove container" err="failed to remove container "${ID}" log legacy symbolic link "/var/log/containers/a.log": remove /var/log/containers/a.log: busy"`,
  `"Failed to remove container" err="rpc error: code = Unknown desc = failed to remove container "${ID}": device or resource busy"`,
  `failed to remove container "${ID}" log "boot": remove home: directory not empty`,
  `failed to remove container "${ID}" log "boot": remove bootstrap: directory not empty`,
  `failed to remove container "${ID}" log "": remove : no such file or directory`,
  `failed to remove container "${ID}" log "boot": rem`,
];

/** The ways in which a line reaches us, each around the same klog line of 2026-04-17 09:35:55 UTC. */
export const WRAPPINGS: Readonly<Record<string, (klog: string) => string>> = {
  'a file of klog': (klog) => klog,
  'grep with a file name': (klog) => `kubelet.INFO:77:${klog}`,
  'journalctl -o short': (klog) => `Apr 17 09:35:55 edge kubelet[8904]: ${klog}`,
  'journalctl -o short-iso': (klog) => `2026-04-17T09:35:55+0000 edge kubelet[8904]: ${klog}`,
  'journalctl -o short-precise': (klog) => `Apr 17 09:35:55.243111 edge kubelet[8904]: ${klog}`,
  rsyslog: (klog) => `2026-04-17T11:35:55.243111+02:00 edge kubelet: ${klog}`,
  'journalctl -o json': (klog) =>
    JSON.stringify({ __REALTIME_TIMESTAMP: '1776418555243111', _COMM: 'kubelet', MESSAGE: klog }),
  'journalctl -o json, as bytes': (klog) =>
    JSON.stringify({ __REALTIME_TIMESTAMP: '1776418555243111', MESSAGE: [...Buffer.from(klog)] }),
  'journalctl -o json-pretty': (klog) => `\t"MESSAGE" : ${JSON.stringify(klog)},`,
  'journalctl -o export': (klog) => `MESSAGE=${klog}`,
  'a log file of Docker': (klog) =>
    JSON.stringify({ log: `${klog}\n`, stream: 'stderr', time: '2026-04-17T09:35:55.243111000Z' }),
  'a log file of CRI': (klog) => `2026-04-17T09:35:55.243111000Z stderr F ${klog}`,
  'Windows line ends': (klog) => `${klog}\r`,
};

export const klogLine = (message: string) =>
  `E0417 09:35:55.243111    8904 some_file.go:146] ${message}`;

/** The quotes of a message, escaped so many times. */
export function escaped(message: string, depth: number): string {
  return message.replaceAll('"', `${'\\'.repeat(2 ** depth - 1)}"`);
}
