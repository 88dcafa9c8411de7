import { fieldAt, listAt, numberAt, textAt } from '../../lib/std/json.ts';

/** What was given of a container runtime, in the words of its own answers. */
export class GivenRuntime {
  readonly #containers = new Map<string, object>();
  readonly #sandboxes = new Map<string, object>();
  readonly #statuses = new Map<string, object>();
  /** Containers whose log path comes from the runtime itself. */
  readonly inspected = new Set<string>();
  /** The runtime's own list of all containers, or all sandboxes, was among it. */
  hasContainerList = false;
  hasSandboxList = false;
  name: string | undefined;
  version: string | undefined;

  get isEmpty(): boolean {
    return this.#containers.size + this.#sandboxes.size === 0 && !this.hasContainerList;
  }

  get containers(): readonly object[] {
    return [...this.#containers.values()];
  }

  get sandboxes(): readonly object[] {
    return [...this.#sandboxes.values()];
  }

  statusOf(id: string): object | undefined {
    return this.#statuses.get(id);
  }

  /** `crictl ps -a -o json` */
  addContainerList(list: readonly unknown[], isWhole: boolean): void {
    this.hasContainerList ||= isWhole;
    for (const item of list) {
      const id = textAt(item, 'id');
      if (id)
        this.#containers.set(id, {
          ...(item as object),
          createdAt: nanosecondsIn(item, 'createdAt'),
        });
    }
  }

  /** `crictl pods -o json` */
  addSandboxList(list: readonly unknown[], isWhole: boolean): void {
    this.hasSandboxList ||= isWhole;
    for (const item of list) {
      const id = textAt(item, 'id');
      if (id) this.#sandboxes.set(id, item as object);
    }
  }

  /** `crictl inspect`, or a decoded ContainerStatus, in whichever of its spellings. */
  addStatus(message: unknown): void {
    const status = fieldAt(message, 'status');
    const id = textAt(status, 'id') ?? `unnamed-${this.#statuses.size + 1}`;
    const exitCode =
      numberAt(status, 'exitCode') ?? numberAt(status, 'exit_code') ?? numberAt(status, 'exit');
    const created = {
      id,
      metadata: fieldAt(status, 'metadata') ?? {},
      state: stateName(fieldAt(status, 'state')),
      createdAt: nanosecondsIn(status, 'createdAt'),
      startedAt: nanosecondsIn(status, 'startedAt'),
      finishedAt: nanosecondsIn(status, 'finishedAt'),
      exitCode: exitCode ?? 0,
      reason: textAt(status, 'reason') ?? '',
      message: textAt(status, 'message') ?? '',
      labels: fieldAt(status, 'labels') ?? {},
      annotations: fieldAt(status, 'annotations') ?? {},
      image: fieldAt(status, 'image') ?? {},
      // What was left out says nothing of the log path: only a field that is there and empty does.
      ...logPathOf(status),
    };
    this.#statuses.set(id, created);
    if ('logPath' in created) this.inspected.add(id);
    const sandbox = textAt(message, 'info', 'sandboxID') ?? '';
    if (!this.#containers.has(id)) this.#containers.set(id, { ...created, podSandboxId: sandbox });
  }

  /** The containers of a pod according to its status, if there is nothing from the runtime. */
  addPod(pod: unknown): void {
    const labels = {
      'io.kubernetes.pod.uid': textAt(pod, 'metadata', 'uid') ?? '',
      'io.kubernetes.pod.name': textAt(pod, 'metadata', 'name') ?? '',
      'io.kubernetes.pod.namespace': textAt(pod, 'metadata', 'namespace') ?? 'default',
    };
    const uid = labels['io.kubernetes.pod.uid'];
    const phase = textAt(pod, 'status', 'phase');
    const lists = ['initContainerStatuses', 'containerStatuses', 'ephemeralContainerStatuses'];
    for (const item of lists.flatMap((list) => listAt(pod, 'status', list) ?? [])) {
      this.#addPodContainer(item, labels);
    }
    if (this.#sandboxes.has(uid) || this.hasSandboxList) return;
    this.#sandboxes.set(uid, {
      id: uid,
      metadata: {
        uid,
        name: labels['io.kubernetes.pod.name'],
        namespace: labels['io.kubernetes.pod.namespace'],
      },
      state: phase === 'Running' ? 'SANDBOX_READY' : 'SANDBOX_NOTREADY',
    });
  }

  #addPodContainer(item: unknown, labels: Readonly<Record<string, string>>): void {
    const name = textAt(item, 'name') ?? '';
    const isRunning = fieldAt(item, 'state', 'running') !== undefined;
    const ended = fieldAt(item, 'state', 'terminated') ?? fieldAt(item, 'lastState', 'terminated');
    // containerd://1ca1a8b5ea3d05b920cb730751f2917a7fc6322759f43779f9bcfbf3e4d08eba
    const reported = textAt(item, 'containerID') ?? textAt(ended, 'containerID') ?? '';
    const id = reported.replace(/^[\w-]+:\/\//, '');
    if (id === '' || this.#containers.has(id) || this.hasContainerList) return;
    const state = isRunning ? 'CONTAINER_RUNNING' : 'CONTAINER_EXITED';
    const created = {
      id,
      metadata: { name, attempt: numberAt(item, 'restartCount') ?? 0 },
      state,
      createdAt: nanosecondsIn(fieldAt(item, 'state', 'running') ?? ended, 'startedAt'),
      labels: { ...labels, 'io.kubernetes.container.name': name },
    };
    this.#containers.set(id, { ...created, podSandboxId: labels['io.kubernetes.pod.uid'] ?? '' });
    const status = {
      ...created,
      exitCode: numberAt(ended, 'exitCode') ?? 0,
      reason: textAt(ended, 'reason') ?? '',
      // These are words of the pod's status, and are quoted from there.
      message: '',
      finishedAt: nanosecondsIn(ended, 'finishedAt'),
    };
    this.#statuses.set(id, status);
  }
}

const STATE_NAMES = ['CONTAINER_CREATED', 'CONTAINER_RUNNING', 'CONTAINER_EXITED'];

/** By its name, or by its number in CRI. */
function stateName(state: unknown): string {
  if (typeof state === 'string') return state;
  return (typeof state === 'number' && STATE_NAMES[state]) || 'CONTAINER_UNKNOWN';
}

function logPathOf(status: unknown): { readonly logPath?: string } {
  const path = textAt(status, 'logPath') ?? textAt(status, 'log_path');
  return path === undefined ? {} : { logPath: path };
}

/** Nanoseconds since 1970 as CRI writes them, also of a time in words. */
function nanosecondsIn(value: unknown, field: string): string {
  const text = textAt(value, field) ?? '';
  if (/^\d{1,19}$/.test(text)) return text;
  const ms = Date.parse(text);
  return Number.isNaN(ms) || ms < 0 ? '0' : `${ms}000000`;
}
