import { type Signature, signature } from '../../model/log-signature.ts';

/** What the sync loop says while it moves, and what others say when it does not. */
export const SYNC_LOOP_SIGNATURES = {
  /** Each turn of the loop that had something to do; `event` is "housekeeping", "PLEG", "ADD"... */
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
  /** The health check of the loop has failed: it has not begun a turn for five minutes. */
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
  /** Nobody takes the events of the runtime any more. */
  'event-channel-full': signature(
    ['discard this relist() cycle event'],
    // "Event channel is full, discard this relist() cycle event"
    /vent channel is full, discard this relist/,
  ),
  /** The loop turns but does nothing: the runtime is away, or the kubelet has just begun. */
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
  /** systemd is about to end a kubelet that is not healthy, or has done so. */
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
} as const satisfies Readonly<Record<string, Signature>>;
