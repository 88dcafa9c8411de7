import { fieldAt, listAt, textAt } from '../../lib/std/json.ts';

/** What a JSON or YAML document can be, and how it is called. */
export const DOCUMENT_KINDS = {
  pods: 'pods (the kubelet, or kubectl get pod)',
  nodes: 'nodes (kubectl get node)',
  events: 'events (kubectl get events)',
  'container-list': 'the list of containers (crictl ps -a -o json)',
  'sandbox-list': 'the list of sandboxes (crictl pods -o json)',
  'container-status': 'the status of a container (crictl inspect)',
  'container-state': "a container's state, as a part of a pod's status",
  'runtime-version': 'the version of the runtime (crictl version)',
  configuration: "the kubelet's configuration, which is not judged",
} as const;

export type DocumentKind = keyof typeof DOCUMENT_KINDS;

/** The kind of a value by its shape; undefined for what we make nothing of. */
export function documentKind(value: unknown): DocumentKind | undefined {
  const kind = textAt(value, 'kind') ?? '';
  const items = listAt(value, 'items');
  const [first] = items ?? [];
  if (kind === 'Pod' || kind === 'PodList') return 'pods';
  if (kind === 'Node' || kind === 'NodeList') return 'nodes';
  if (kind === 'Event' || kind === 'EventList') return 'events';
  if (kind === 'KubeletConfiguration' || fieldAt(value, 'kubeletconfig')) return 'configuration';
  if (kind === 'List' || (kind === '' && fieldAt(value, 'apiVersion'))) return kindOfItem(first);
  if (isSandbox(first)) return 'sandbox-list';
  const [container] = listAt(value, 'containers') ?? [];
  if (listAt(value, 'containers') && (!container || textAt(container, 'podSandboxId'))) {
    return 'container-list';
  }
  if (isStatus(fieldAt(value, 'status'))) return 'container-status';
  if (isState(value)) return 'container-state';
  if (textAt(value, 'runtimeName')) return 'runtime-version';
  if (Array.isArray(value)) return documentKind((value as readonly unknown[])[0]);
  return undefined;
}

function kindOfItem(item: unknown): DocumentKind | undefined {
  const kind = textAt(item, 'kind');
  if (kind === 'Pod') return 'pods';
  if (kind === 'Node') return 'nodes';
  return kind === 'Event' ? 'events' : undefined;
}

function isSandbox(item: unknown): boolean {
  return (textAt(item, 'state') ?? '').startsWith('SANDBOX_');
}

/** {"state": "CONTAINER_EXITED", "logPath": "", ...}, or with the numbers and names of CRI itself. */
function isStatus(status: unknown): boolean {
  const state = fieldAt(status, 'state');
  if (typeof state === 'string') return state.startsWith('CONTAINER_');
  const path = fieldAt(status, 'log_path') ?? fieldAt(status, 'logPath');
  return typeof state === 'number' && path !== undefined;
}

/** {"exitCode": 128, "reason": "ContainerCannotRun", ...}, alone or under "terminated". */
function isState(value: unknown): boolean {
  const inner = ['terminated', 'waiting', 'running', 'lastState', 'state'].some(
    (name) => typeof fieldAt(value, name) === 'object' && fieldAt(value, name) !== null,
  );
  return (
    inner || (fieldAt(value, 'exitCode') !== undefined && textAt(value, 'reason') !== undefined)
  );
}
