import type { Signature } from './log-signature.ts';

/** Containers and their logs: what is said around a container that has no log path. */
export const CONTAINER_SIGNATURES = {
  /**
   * The kubelet removed what lies in its own working folder: the name has no slash before it, and
   * the removal repeats it. Whoever collects a container with a log path writes an absolute one.
   */
  'remove-relative-log': {
    literals: ['failed to remove container '],
    patterns: [
      // "Failed to remove container" err="failed to remove container "ca80..." log "boot": remove
      // boot: device or resource busy" containerID="ca80..."
      /failed to remove container "(?<containerId>[^"\s]+)" log "(?<name>[^"/][^"]*)": remove \k<name>: (?<error>[^"\n]+)/,
    ],
  },
  /** The same with an absolute path, which is another trouble. */
  'remove-absolute-log': {
    literals: ['failed to remove container '],
    patterns: [
      // failed to remove container "ca80..." log "/var/log/pods/a_b_c/d/0.log": remove /var/log/...
      /failed to remove container "(?<containerId>[^"\s]+)" log (?:legacy symbolic link )?"(?<path>\/[^"]*)": (?<error>[^"\n]+)/,
    ],
  },
  'remove-container': {
    literals: ['RemoveContainer'],
    patterns: [
      // "RemoveContainer" containerID="ca80..."
      /"RemoveContainer" (?:[^\n]*? )?containerID="?(?<containerId>[^"\s]+)/,
      // [topologymanager] RemoveContainer - Container ID: ca80...
      /RemoveContainer - Container ID: (?<containerId>[^\s"]+)/,
    ],
  },
  /** A container that runs and has no log path: said every ten seconds. */
  'log-path-empty': {
    literals: ['Failed to stat container log', 'reopen container log failed'],
    patterns: [
      // "Failed to stat container log after reopen" err="stat : no such file or directory" path=""
      /Failed to stat container log after reopen"(?=[\s\S]*?containerID="?(?<containerId>[^"\s]+)|)(?=[\s\S]* path=""|[\s\S]*"stat : )/,
      // Failed to stat container log "" after reopen: stat : no such file or directory
      /Failed to stat container log "" after reopen/,
      // "Container log doesn't exist, reopen container log failed" path="" err="..."
      /reopen container log failed"(?=[\s\S]*?containerID="?(?<containerId>[^"\s]+)|)(?=[\s\S]* path="")/,
      // Container "ca80..." log "" doesn't exist, reopen container log failed: rpc error
      /Container "(?<containerId>[^"]+)" log "" doesn't exist, reopen container log failed/,
    ],
  },
  /** A runtime that was told no log path. */
  'logging-disabled': {
    literals: ['Logging will be disabled due to empty log paths'],
    patterns: [
      // Logging will be disabled due to empty log paths for sandbox ("") or container ("c/0.log")
      /empty log paths for sandbox \("(?<logFolder>[^"]*)"\) or container \("(?<logPath>[^"]*)"\)/,
    ],
  },
  /** A sandbox that was made without the kubelet, and has neither uid nor namespace. */
  'nameless-sandbox': {
    literals: ['metadata.Uid is not in metadata'],
    patterns: [
      // "PLEG: Write status" err="metadata.Name, metadata.Namespace or metadata.Uid is not in
      // metadata "name:"mqtt-kubeedge""" pod="mqtt-kubeedge"
      /metadata\.Uid is not in metadata "?(?=[\s\S]*?name:\s*"(?<sandbox>[^"]*)|)/,
    ],
  },
  /** The kubelet kills what runs in a pod that it does not know. */
  'unknown-pod-killed': {
    literals: ['orphaned pod we had not seen before', 'Killing unwanted pod'],
    patterns: [
      // "Clean up containers for orphaned pod we had not seen before" podUID="" killPodOptions=...
      /orphaned pod we had not seen before"(?:[^\n]*? podUID="?(?<podUid>[^"\s]*))?/,
      // Killing unwanted pod "mqtt-kubeedge"
      /Killing unwanted pod:? "(?<pod>[^"]*)/,
    ],
  },
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
  'name-reserved': {
    literals: ['failed to reserve container name', 'failed to reserve sandbox name'],
    patterns: [
      // failed to reserve container name "a_b_c": name "a_b_c" is reserved for "7c54..."
      /failed to reserve \w+ name "(?<name>[^"]+)": name "[^"]+" is reserved for "(?<holder>[^"]+)"/,
    ],
  },
} as const satisfies Readonly<Record<string, Signature>>;
