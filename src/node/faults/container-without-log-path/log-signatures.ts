import type { LogSignature } from '../../model/log-signature.ts';

/**
 * The kubelet removed what lies in its own working folder: the name has no slash before it, and
 * the removal repeats it. For a container with a log path the kubelet logs an absolute one.
 */
export const REMOVE_RELATIVE_LOG: LogSignature = {
  id: 'remove-relative-log',
  log: 'kubelet',
  literals: ['failed to remove container '],
  patterns: [
    // "Failed to remove container" err="failed to remove container "ca80..." log "boot": remove
    // boot: device or resource busy" containerID="ca80..."
    /failed to remove container "(?<containerId>[^"\s]+)" log "(?<name>[^"/][^"]*)": remove \k<name>: (?<error>[^"\n]+)/,
  ],
};

/** A container that runs and has no log path: said every ten seconds. */
export const LOG_PATH_EMPTY: LogSignature = {
  id: 'log-path-empty',
  log: 'kubelet',
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
};

/** A runtime without a log path. */
export const LOGGING_DISABLED: LogSignature = {
  id: 'logging-disabled',
  log: 'kubelet',
  literals: ['Logging will be disabled due to empty log paths'],
  patterns: [
    // Logging will be disabled due to empty log paths for sandbox ("") or container ("c/0.log")
    /empty log paths for sandbox \("(?<logFolder>[^"]*)"\) or container \("(?<logPath>[^"]*)"\)/,
  ],
};

/** A sandbox that was made without the kubelet, and has neither uid nor namespace. */
export const NAMELESS_SANDBOX: LogSignature = {
  id: 'nameless-sandbox',
  log: 'kubelet',
  literals: ['metadata.Uid is not in metadata'],
  patterns: [
    // "PLEG: Write status" err="metadata.Name, metadata.Namespace or metadata.Uid is not in
    // metadata "name:"mqtt-kubeedge""" pod="mqtt-kubeedge"
    /metadata\.Uid is not in metadata "?(?=[\s\S]*?name:\s*"(?<sandbox>[^"]*)|)/,
  ],
};

export const LOG_SIGNATURES = [
  REMOVE_RELATIVE_LOG,
  LOG_PATH_EMPTY,
  LOGGING_DISABLED,
  NAMELESS_SANDBOX,
];
