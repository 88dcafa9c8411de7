import { type Signature, signature } from '../../model/log-signature.ts';

/**
 * Messages of systemd and the kernel about a service, and of a service before it exits. Logs are
 * searched for them only if a service does not run.
 */
export const UNIT_SIGNATURES = {
  'unit-exited': signature(
    ['Main process exited, code='],
    // kubelet.service: Main process exited, code=exited, status=1/FAILURE
    // containerd.service: Main process exited, code=killed, status=9/KILL
    /(?<unit>\S+\.service): Main process exited, code=(?<code>\w+), status=(?<status>\d+)\/(?<name>\S+)/,
  ),
  'unit-failed': signature(
    ['Failed with result ', 'entered failed state'],
    // kubelet.service: Failed with result 'exit-code'.
    /(?<unit>\S+\.service): Failed with result '(?<result>[\w-]+)'/,
    // Unit kubelet.service entered failed state.
    /Unit (?<unit>\S+\.service) entered failed state/,
  ),
  'unit-restarts': signature(
    ['Scheduled restart job, restart counter is at '],
    // kubelet.service: Scheduled restart job, restart counter is at 5.
    /(?<unit>\S+\.service): Scheduled restart job, restart counter is at (?<count>\d+)/,
  ),
  'unit-gives-up': signature(
    ['tart request repeated too quickly'],
    // kubelet.service: Start request repeated too quickly.
    /(?<unit>\S+\.service):? [Ss]tart request repeated too quickly/,
  ),
  'unit-out-of-memory': signature(
    ['killed by the OOM killer'],
    // kubelet.service: A process of this unit has been killed by the OOM killer.
    /(?<unit>\S+\.service): A process of this unit has been killed by the OOM killer/,
  ),
  'unit-stopped': signature(
    ['Deactivated successfully', 'Stopped '],
    // kubelet.service: Deactivated successfully.
    /(?<unit>\S+\.service): Deactivated successfully/,
    // Stopped kubelet: The Kubernetes Node Agent.; Stopped kubelet.service - kubelet: The ...
    /^Stopped (?<what>[^\n]{1,200})/,
  ),
  'unit-stopping': signature(
    ['Stopping '],
    // Stopping kubelet: The Kubernetes Node Agent...
    /^Stopping (?<what>[^\n]{1,200})/,
  ),
  'unit-started': signature(
    ['Started '],
    // Started kubelet: The Kubernetes Node Agent.; Started containerd.service - containerd ...
    /^Started (?<what>[^\n]{1,200})/,
  ),
  'killed-for-memory': signature(
    ['Killed process '],
    // Out of memory: Killed process 4211 (kubelet) total-vm:1936203776kB, anon-rss:...
    // Memory cgroup out of memory: Killed process 4211 (kubelet) total-vm:...
    /ut of memory: Killed process (?<pid>\d+) \((?<name>[^)]+)\)/,
  ),
  'cannot-go-on': signature(
    [
      ...['ailed to run Kubelet', 'command failed', 'ailed to load kubelet', 'unknown flag: '],
      ...['panic: ', 'fatal error: ', 'level=fatal', 'validate service connection'],
      'runtime API version',
    ],
    // "command failed" err="failed to run Kubelet: validate service connection: ..."
    /[Ff]ailed to run Kubelet: (?<error>[^\n]+)/,
    /[Ff]ailed to load kubelet config(?<error>[^\n]+)/,
    /command failed"? err="(?<error>[^\n]+)/,
    // unknown flag: --network-plugin
    /(?<error>unknown flag: [^\n]+)/,
    /^(?<error>(?:panic|fatal error): [^\n]+)/,
    // containerd: failed to load plugin io.containerd.grpc.v1.cri
    /level=fatal msg="(?<error>[^\n]+)/,
    // validate service connection: ... dial unix /run/containerd/containerd.sock: connect: ...
    /(?<error>(?:validate service connection|runtime API version)[^\n]*dial unix [^\n]+)/,
  ),
} as const satisfies Readonly<Record<string, Signature>>;

export type UnitSignatureId = keyof typeof UNIT_SIGNATURES;

export const UNIT_SIGNATURE_LIST: readonly (readonly [UnitSignatureId, Signature])[] =
  Object.entries(UNIT_SIGNATURES) as readonly (readonly [UnitSignatureId, Signature])[];

/** Every line of a journal, of klog and of containerd's log contains one of these. */
const OF_EVERY_LINE = [']: ', '.go:', 'level='];

/** The literals for the end of a service's log: all signatures, and its last lines. */
export const UNIT_LITERALS: readonly string[] = [
  ...new Set([...UNIT_SIGNATURE_LIST.flatMap(([, { literals }]) => literals), ...OF_EVERY_LINE]),
];
