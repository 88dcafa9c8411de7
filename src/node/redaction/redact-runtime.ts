import { RUNTIME_DEPTH_MAX } from '../evidence/limits.ts';
import type { RedactionRules } from '../model/redaction.ts';
import { redactInspect } from './redact-inspect.ts';
import { redactMessage } from './redact-message.ts';

/** The fields of CRI that a bundle may contain: those of our own, trimmed definition. */
const PUBLIC_FIELDS: ReadonlySet<string> = new Set(
  [
    ['items', 'containers', 'status', 'mounts', 'metadata'],
    ['id', 'podSandboxId', 'name', 'uid', 'namespace', 'attempt', 'state'],
    ['createdAt', 'startedAt', 'finishedAt', 'exitCode', 'reason', 'logPath'],
    ['image', 'imageRef', 'runtimeHandler', 'containerPath', 'hostPath', 'readonly'],
    ['version', 'runtimeName', 'runtimeVersion', 'runtimeApiVersion'],
  ].flat(),
);

const USERS_MAPS: ReadonlySet<string> = new Set(['labels', 'annotations']);

/** What a runtime said, without what users, operators and their applications write into it. */
export function redactRuntime(value: unknown, rules: RedactionRules, depth = 0): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= RUNTIME_DEPTH_MAX) return null;
  if (Array.isArray(value)) return value.map((item) => redactRuntime(item, rules, depth + 1));
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]): [string, unknown][] => {
      if (USERS_MAPS.has(key)) return [[key, kubeletsOwn(item)]];
      if (key === 'info' && depth === 0) return [[key, redactInspect(item)]];
      if (key === 'message')
        return typeof item === 'string' ? [[key, redactMessage(item, rules)]] : [];
      return PUBLIC_FIELDS.has(key) ? [[key, redactRuntime(item, rules, depth + 1)]] : [];
    }),
  );
}

/** What the kubelet, and KubeEdge on the broker that it makes, write themselves. */
const OWN: ReadonlySet<string> = new Set([
  'io.kubernetes.pod.name',
  'io.kubernetes.pod.namespace',
  'io.kubernetes.pod.uid',
  'io.kubernetes.pod.terminationGracePeriod',
  'io.kubernetes.container.name',
  'io.kubernetes.container.hash',
  'io.kubernetes.container.restartCount',
  'io.kubernetes.container.terminationMessagePath',
  'io.kubernetes.container.terminationMessagePolicy',
  'io.kubeedge.edgecore/mqtt',
]);

/** By name: any other name may be anybody's, with the commands of a pod or all of it inside. */
function kubeletsOwn(map: unknown): Readonly<Record<string, unknown>> {
  if (typeof map !== 'object' || map === null) return {};
  const own = Object.entries(map).filter(
    ([key, value]) => OWN.has(key) && typeof value === 'string',
  );
  return Object.fromEntries(own);
}
