import {
  attempt,
  defineEvidence,
  type Snapshot,
  type UnknownReason,
} from '../../model/evidence.ts';
import type { ProcessEntry } from '../../model/node-reader.ts';
import { FIRST_PID_NAMESPACE } from '../kernel/host-namespace.ts';
import { type Kubelet, kubelet } from '../kubelet/kubelet.ts';
import { KUBELET_COMMS, type RejectedProcess } from '../kubelet/kubelet-process.ts';
import { KUBELET_YOUNG_S, NODE_YOUNG_S } from '../limits.ts';
import { KUBELET_UNITS, usualFiles } from '../logs/kubelet-log-files.ts';
import { podOfCgroup } from '../pods/pod-of-cgroup.ts';
import { listensOn } from '../processes/listening-port.ts';
import { ageOf, countLivePods, processes, uptimeOf } from '../processes/processes.ts';
import { unlessMissing } from '../text/file-path.ts';
import { type ServiceUnit, serviceUnit } from './service-unit.ts';
import { changeUnderWay, waitsForRestart } from './unit-change.ts';

/** Whether a kubelet runs on this node, and if not, what is known about its exit. */
export type KubeletService =
  | {
      readonly state: 'running';
      readonly pid: number;
      readonly root: string;
      readonly isPaused: boolean;
      /** Set if it started a moment ago: its age, and the state of its systemd unit. */
      readonly young?: { readonly ageS: number; readonly unit: ServiceUnit };
    }
  | {
      readonly state: 'not-running';
      /** Not set if no default root directory of a kubelet exists. */
      readonly root?: string;
      /** Pods that have a directory below the kubelet's root. */
      readonly podFolders: number;
      /** Pods with a running process. */
      readonly livePods: number;
      readonly unit: ServiceUnit;
    }
  /** Neither a kubelet nor a root directory of one. */
  | { readonly state: 'absent' }
  | ({ readonly state: 'uncertain' } & UnknownReason);

export const kubeletService = defineEvidence<KubeletService>({
  id: 'kubelet-service',
  title: 'Whether the kubelet runs, and how it ended',
  collect: async (snapshot) => {
    const found = await snapshot.of(kubelet);
    if (found.presence === 'running') return runningService(snapshot, found);
    // The report already names the process that may be the kubelet.
    if (found.contradiction !== undefined) return { state: 'absent' };
    return missingService(snapshot, found);
  },
});

async function runningService(snapshot: Snapshot, found: Kubelet): Promise<KubeletService> {
  const { pid = 0, startTime = '0' } = found.process ?? {};
  const { root, isPaused = false } = found;
  const running = { state: 'running', pid, root, isPaused } as const;
  const uptime = await attempt(uptimeOf(snapshot));
  if (!uptime.known) {
    // An earlier version made the recording: it still shows that the kubelet runs.
    if (uptime.error.failure === 'not-recorded') return running;
    throw uptime.error;
  }
  const ageS = ageOf(startTime, uptime.value);
  if (ageS === undefined || ageS >= KUBELET_YOUNG_S) return running;
  return { ...running, young: { ageS, unit: await unitOf(snapshot, found) } };
}

async function missingService(snapshot: Snapshot, found: Kubelet): Promise<KubeletService> {
  const all = await snapshot.of(processes);
  const hidden = await hiddenProcesses(snapshot, all);
  if (hidden !== undefined) return { state: 'uncertain', ...hidden };
  const unit = await unitOf(snapshot, found);
  const livePods = countLivePods(all);
  const root = found.presence === 'absent' ? undefined : found.root;
  const other =
    (root === undefined ? undefined : otherSign(all, found.rejected, unit)) ??
    changeUnderWay(unit.state) ??
    (await listenerSign(snapshot)) ??
    (livePods > 0 ? undefined : await bootSign(snapshot, unit));
  if (other !== undefined) return { state: 'uncertain', why: other };
  if (root === undefined) return withoutRoot(unit, livePods);
  const pods = (await unlessMissing(snapshot.node.ask('folder', { path: `${root}/pods` }))) ?? [];
  return { state: 'not-running', root, podFolders: pods.length, livePods, unit };
}

/** Most such machines are not nodes, but a kubelet may have an unusual root. */
function withoutRoot(unit: ServiceUnit, livePods: number): KubeletService {
  const { state, unasked } = unit;
  if (state && (state.active === 'failed' || waitsForRestart(state))) {
    return { state: 'not-running', podFolders: 0, livePods, unit };
  }
  const isMeant = state?.active === 'inactive' && state.enabled.startsWith('enabled');
  const sign =
    (isMeant ? `${state.unit} is enabled and does not run` : undefined) ??
    (livePods > 0 ? 'processes of pods run here' : undefined) ??
    (unasked && !unasked.isMissing ? `systemd could not be asked: ${unasked.why}` : undefined);
  if (sign === undefined) return { state: 'absent' };
  return {
    state: 'uncertain',
    why: `no kubelet runs, and its directory is at none of the usual places, but ${sign}; name the directory with --kubelet-root`,
  };
}

/** Why a kubelet may run that we do not see: missing privileges, or we run in a container. */
async function hiddenProcesses(
  snapshot: Snapshot,
  all: readonly ProcessEntry[],
): Promise<UnknownReason | undefined> {
  const namespace = await attempt(snapshot.node.ask('link', { path: '/proc/1/ns/pid' }));
  if (!namespace.known) {
    const why = `no kubelet process is visible, and the node may hide processes: ${namespace.why}`;
    return { why, error: namespace.error };
  }
  if (namespace.value === FIRST_PID_NAMESPACE) return undefined;
  // A node inside a container, such as one of kind, sees the processes of its pods.
  const first = all.find(({ pid }) => pid === 1);
  const isNode =
    first !== undefined &&
    podOfCgroup(first.cgroups) === undefined &&
    all.some(({ cgroups }) => podOfCgroup(cgroups) !== undefined);
  if (isNode) return undefined;
  const why =
    "no kubelet process is visible, but this container may not see the node's processes: run it with hostPID, or on the node";
  return { why };
}

/** Any sign that a kubelet may run: it started in the meantime, or has another name. */
function otherSign(
  all: readonly ProcessEntry[],
  rejected: readonly RejectedProcess[],
  { state }: ServiceUnit,
): string | undefined {
  const one = all.find(
    ({ pid, name, state: letter, thread }) =>
      KUBELET_COMMS.has(name) &&
      letter !== 'Z' &&
      thread === undefined &&
      !rejected.some((each) => each.pid === pid),
  );
  if (one) {
    return `process ${one.pid} (${one.name}) may be a kubelet that has just started; check again`;
  }
  if (state?.active !== 'active') return undefined;
  return `systemd reports ${state.unit} as active, but no kubelet process is visible; if it has another name: --kubelet-pid`;
}

/** Services start one after another at boot: a service that has not run yet was not stopped. */
async function bootSign(snapshot: Snapshot, unit: ServiceUnit): Promise<string | undefined> {
  const { state, hasNoUnit, events, lastLines } = unit;
  const isSettled = state && (state.active !== 'inactive' || NEVER_STARTED.has(state.enabled));
  if (hasNoUnit || isSettled) return undefined;
  const uptimeS = await uptimeOf(snapshot);
  if (!(uptimeS < NODE_YOUNG_S)) return undefined;
  const bootMs = snapshot.node.now().getTime() - uptimeS * 1000;
  const hasRun = [...events, ...lastLines].some(({ time }) => time && time.getTime() >= bootMs);
  if (hasRun) return undefined;
  return `the node was booted ${Math.round(uptimeS)} s ago, and the kubelet has not been started since; check again in some minutes`;
}

const NEVER_STARTED: ReadonlySet<string> = new Set(['disabled', 'masked']);

const KUBELET_PORT = 10_250;

async function listenerSign(snapshot: Snapshot): Promise<string | undefined> {
  for (const table of ['tcp', 'tcp6']) {
    const path = `/proc/1/net/${table}`;
    const text = await unlessMissing(snapshot.node.ask('file', { path }));
    if (text !== undefined && listensOn(text, KUBELET_PORT)) {
      return `something listens on port ${KUBELET_PORT}, but no process is called kubelet; if it is one: --kubelet-pid`;
    }
  }
  return undefined;
}

function unitOf(snapshot: Snapshot, { program, presence }: Pick<Kubelet, 'program' | 'presence'>) {
  const { kubeletLog } = snapshot.settings;
  const isRunning = presence === 'running';
  const usual = isRunning ? [] : usualFiles().map(({ path }) => path);
  return serviceUnit(snapshot, {
    units: KUBELET_UNITS,
    programs: [...new Set([program, 'kubelet'])],
    files: kubeletLog === undefined ? usual : [kubeletLog],
    isRunning,
  });
}
