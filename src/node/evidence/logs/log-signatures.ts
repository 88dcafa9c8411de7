import { type LogSignature, type Signature, signature } from '../../model/log-signature.ts';
import { VOLUME_SIGNATURES } from './log-signatures-of-volumes.ts';

const KUBELET_SIGNATURES = {
  // Containers that could not be started or removed.
  /** The log of a container with an absolute path. */
  'remove-absolute-log': signature(
    ['failed to remove container '],
    // failed to remove container "ca80..." log "/var/log/pods/a_b_c/d/0.log": remove /var/log/...
    /failed to remove container "(?<containerId>[^"\s]+)" log (?:legacy symbolic link )?"(?<path>\/[^"]*)": (?<error>[^"\n]+)/,
  ),
  'remove-container': signature(
    ['RemoveContainer'],
    // "RemoveContainer" containerID="ca80..."
    /"RemoveContainer" (?:[^\n]*? )?containerID="?(?<containerId>[^"\s]+)/,
    // [topologymanager] RemoveContainer - Container ID: ca80...
    /RemoveContainer - Container ID: (?<containerId>[^\s"]+)/,
  ),
  /** The kubelet kills the containers of a pod that it does not know. */
  'unknown-pod-killed': signature(
    ['orphaned pod we had not seen before', 'Killing unwanted pod'],
    // "Clean up containers for orphaned pod we had not seen before" podUID="" killPodOptions=...
    /orphaned pod we had not seen before"(?:[^\n]*? podUID="?(?<podUid>[^"\s]*))?/,
    // Killing unwanted pod "mqtt-kubeedge"
    /Killing unwanted pod:? "(?<pod>[^"]*)/,
  ),
  'start-container-failed': {
    literals: ['from runtime service failed'],
    patterns: [
      // "StartContainer from runtime service failed" err="rpc error: ... mounting "/var/.../1" to ..."
      // StartContainer "ca80..." from runtime service failed: rpc error: code = Unknown desc = ...
      /StartContainer (?:"(?<containerId>[^"]+)" )?from runtime service failed(?=[\s\S]*?(?<mount>\/[^\s"]{0,500}?\/volume-subpaths\/[^\s":,]+)|)/,
    ],
    isWordy: true,
  },
  'run-container-error': {
    literals: ['with RunContainerError'],
    patterns: [
      // "Error syncing pod, skipping" err="failed to "StartContainer" for "app" with
      // RunContainerError: "failed to create containerd task: ..."
      /failed to "StartContainer" for "(?<container>[^"]+)" with RunContainerError(?=[\s\S]*?(?<mount>\/[^\s"]{0,500}?\/volume-subpaths\/[^\s":,]+)|)/,
    ],
    isWordy: true,
  },
  'name-reserved': signature(
    ['failed to reserve container name', 'failed to reserve sandbox name'],
    // failed to reserve container name "a_b_c": name "a_b_c" is reserved for "7c54..."
    /failed to reserve \w+ name "(?<name>[^"]+)": name "[^"]+" is reserved for "(?<holder>[^"]+)"/,
  ),

  // Messages of the sync loop while it runs, and of others when it does not.
  /** Each iteration of the loop that had work; `event` is "housekeeping", "PLEG", "ADD"... */
  'sync-loop': signature(
    [
      'SyncLoop (',
      '"SyncLoop ',
      'Starting kubelet main sync loop',
      'Starting main kubelet sync loop',
    ],
    // SyncLoop (housekeeping); "SyncLoop (housekeeping) end"; SyncLoop (housekeeping, skipped): ...
    /SyncLoop \((?<event>housekeeping)(?:, (?<note>skipped))?\)(?: (?<end>end))?/,
    // SyncLoop (PLEG): "a_default(2c69...)", event: ...; SyncLoop (ADD, "api"): "a_default(2c69)"
    // "SyncLoop UPDATE" source="api" pods=["default/a"]; "SyncLoop (probe)" probe="readiness"
    /SyncLoop \(?(?<event>\w+)(?:, "(?<source>\w+)"| (?<note>[a-z]+))?\)?/,
    // "Starting kubelet main sync loop"
    /Starting (?:kubelet main|main kubelet) (?<event>sync loop)/,
  ),
  /** The health check of the loop failed: no iteration began for five minutes. */
  'sync-loop-unhealthy': signature(
    [
      'sync Loop took longer than expected',
      '[-]syncloop failed',
      'healthz check failed: syncloop',
      'syncloop check failed',
    ],
    // healthz check syncloop failed: sync Loop took longer than expected
    /(?<error>sync Loop took longer than expected)/,
    // [-]syncloop failed: reason withheld
    /\[-\]syncloop failed(?:: (?<error>[^"\n]+))?/,
    // healthz check failed: syncloop; syncloop check failed: healthz
    /healthz check failed: syncloop|syncloop check failed/,
  ),
  'housekeeping-slow': signature(
    ['ousekeeping took longer than'],
    // "Housekeeping took longer than 15s" err="housekeeping took too long" seconds=21.3
    // "Housekeeping took longer than expected" err="..." expected="1s" actual="21.3s"
    /ousekeeping took longer than (?:\S+)(?=[\s\S]*? (?:seconds|actual)="?(?<took>[^"\s]+)|)/,
  ),
  /** The sync loop no longer takes the events of the runtime. */
  'event-channel-full': signature(
    ['discard this relist() cycle event'],
    // "Event channel is full, discard this relist() cycle event"
    /vent channel is full, discard this relist/,
  ),
  /** The loop runs but skips its work: the runtime is down, or the kubelet has just started. */
  'sync-skipped': signature(
    ['kipping pod synchronization'],
    // "Skipping pod synchronization" err="[container runtime is down, PLEG is not healthy: ...]"
    // skipping pod synchronization - [container runtime status check may not have completed yet.]
    /kipping pod synchronization"?(?: - | err=")\[?(?<why>[^"\]\n]+)/,
    /kipping pod synchronization/,
  ),
  'pleg-unhealthy': signature(
    ['PLEG is not healthy'],
    // PLEG is not healthy: pleg was last seen active 3m13.1s ago; threshold is 3m0s
    /PLEG is not healthy: (?<why>pleg (?:was last seen active (?<ago>\S+) ago)?[^"\],\n]*)/,
  ),
  'pleg-relist-failed': signature(
    ['GenericPLEG: Unable to retrieve pods'],
    // "GenericPLEG: Unable to retrieve pods" err="rpc error: code = DeadlineExceeded ..."
    /GenericPLEG: Unable to retrieve pods"?(?:: | err=")(?<error>[^"\n]+)/,
  ),
  /** systemd is about to kill an unhealthy kubelet, or has done so. */
  watchdog: signature(
    ['Do not notify watchdog this iteration', 'Watchdog timeout'],
    // "Do not notify watchdog this iteration as the kubelet is reportedly not healthy"
    /(?<event>Do not notify watchdog)/,
    // kubelet.service: Watchdog timeout (limit 30s)!
    /(?:(?<unit>\S+\.service): )?(?<event>Watchdog timeout)(?: \(limit (?<limit>[^)]+)\))?/,
  ),
  'runtime-down': signature(
    ['container runtime is down', 'ontainer runtime not ready'],
    // container runtime is down; "Container runtime not ready" runtimeReady="RuntimeReady=false ..."
    /ontainer runtime (?<state>is down|not ready)/,
  ),

  ...VOLUME_SIGNATURES,

  // Messages of the kernel, systemd and others, and what prevents the kubelet from starting.
  'nfs-not-responding': signature(
    ['not responding, still trying', 'not responding, timed out'],
    // nfs: server 10.36.3.5 not responding, still trying
    /nfs: server (?<server>\S+) not responding/,
  ),
  'ceph-not-responding': signature(
    ['libceph: mon', 'libceph: osd', ' ceph: mds'],
    // libceph: mon0 10.0.0.1:6789 session lost, hunting for new mon; ceph: mds0 hung
    /(?:lib)?ceph: (?<server>(?:mon|osd|mds)\d+)[^\n"]*?(?<problem>session lost|socket closed|hung|caps stale|caps went stale|down)/,
  ),
  'task-blocked': signature(
    ['blocked for more than '],
    // INFO: task kubelet:4138 blocked for more than 120 seconds.
    /task (?<task>[^\s:]+):(?<pid>\d+) blocked for more than (?<seconds>\d+) seconds/,
  ),
  'transient-scope-failed': signature(
    ['Failed to start transient scope unit'],
    // Failed to start transient scope unit: Argument list too long
    /Failed to start transient scope unit: (?<error>[^"\n]+)/,
  ),
  'systemd-slow': signature(
    ['Timed out while waiting for '],
    // Timed out while waiting for StopUnit(kubepods-pod1.slice) completion signal from dbus
    /Timed out while waiting for (?:StopUnit\((?<unit>[^)]+)\)|systemd to remove (?<slice>\S+))/,
  ),
  'checkpoint-broken': signature(
    ['restore state from checkpoint', 'checkpoint is corrupted', 'remove policy state file'],
    // could not restore state from checkpoint: configured policy "none" differs from state ...
    /could not restore state from checkpoint: (?<error>[^\n]+)/,
    /(?<error>checkpoint is corrupted)/,
    // please drain node and remove policy state file
    /(?<error>please drain node and remove policy state file)/,
  ),
  'network-not-ready': signature(
    ['runtime network not ready'],
    // container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady ...
    /runtime network not ready:? ?"?(?:networkReady=")?(?<why>[^"\n]*)/,
  ),
  'cgroup-not-deleted': signature(
    ['Failed to delete cgroup paths'],
    // Failed to delete cgroup paths [/kubepods/pod1]; "Failed to delete cgroup paths" cgroupName=[]
    /Failed to delete cgroup paths/,
  ),
  'read-only-filesystem': signature(
    ['read-only file system', 'Read-only file system'],
    // open /var/lib/kubelet/pods/49e7/etc-hosts: read-only file system
    /(?:(?<path>\/[^\s":]{1,400}): )?[Rr]ead-only file system/,
  ),
  'start-failed': signature(
    ['Failed to start ContainerManager', 'ddress already in use'],
    // Failed to start ContainerManager start cpu manager error: ...
    /Failed to start ContainerManager"?:? ?(?:err=")?(?<error>[^"\n]*)/,
    // listen tcp 0.0.0.0:10250: bind: address already in use
    /listen \w+ (?<address>\S+): bind: (?<error>address already in use)/,
  ),
} as const satisfies Readonly<Record<string, Signature>>;

export type SignatureId = keyof typeof KUBELET_SIGNATURES;

/** The signatures of the kubelet's log that evidence reads. Faults declare the others. */
export const SIGNATURES: readonly LogSignature[] = Object.entries(KUBELET_SIGNATURES).map(
  ([id, each]) => ({ id, log: 'kubelet', ...each }),
);

/** The literals to search for, without duplicates. */
export function literalsOf(signatures: readonly Signature[]): readonly string[] {
  return [...new Set(signatures.flatMap(({ literals }) => literals))];
}

export type Fields = Readonly<Record<string, string>>;

/** The fields of a message that has this signature; undefined if it does not. */
export function fieldsIn(message: string, { literals, patterns }: Signature): Fields | undefined {
  if (!literals.some((literal) => message.includes(literal))) return undefined;
  for (const pattern of patterns) {
    const found = pattern.exec(message);
    if (!found) continue;
    const groups = Object.entries(found.groups ?? {}).filter(([, text]) => text !== undefined);
    return Object.fromEntries(groups.map(([name, text]) => [name, (text ?? '').trim()]));
  }
  return undefined;
}
