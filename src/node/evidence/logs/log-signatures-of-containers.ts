import { type Signature, signature } from '../../model/log-signature.ts';

/** Containers that could not be started or removed. */
export const CONTAINER_SIGNATURES = {
  /** The log of a container, by its absolute path. */
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
  /** The kubelet kills what runs in a pod that it does not know. */
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
} as const satisfies Readonly<Record<string, Signature>>;
