import { defineEvidence, type Look } from '../model/evidence.ts';
import { attempt } from '../node/attempt.ts';
import type { ProcessEntry } from '../node/node-reader.ts';
import { unlessMissing } from './file-path.ts';
import { type Kubelet, kubelet } from './kubelet.ts';
import { KUBELET_UNITS, usualFiles } from './kubelet-log-files.ts';
import { KUBELET_COMMS } from './kubelet-process.ts';
import { KUBELET_YOUNG_S } from './limits.ts';
import { listensOn } from './listening-port.ts';
import { podOfCgroup } from './pod-of-cgroup.ts';
import { processes } from './processes.ts';
import { type ServiceUnit, serviceUnit } from './service-unit.ts';

/** Whether a kubelet runs on this node, and if not, what is known of its end. */
export type KubeletService =
  | {
      readonly state: 'running';
      readonly pid: number;
      readonly isPaused: boolean;
      /** Of one that began a moment ago: since when, and what its service manager says of that. */
      readonly young?: { readonly ageS: number; readonly unit: ServiceUnit };
    }
  | {
      readonly state: 'not-running';
      readonly root: string;
      /** Pods that have a directory below the kubelet's root. */
      readonly podFolders: number;
      /** Pods of which a process runs. */
      readonly livePods: number;
      readonly unit: ServiceUnit;
    }
  /** No kubelet, and no directory of one. */
  | { readonly state: 'absent' }
  | { readonly state: 'uncertain'; readonly why: string };

export const kubeletService = defineEvidence<KubeletService>({
  id: 'kubelet-service',
  title: 'Whether the kubelet runs, and how it ended',
  collect: async (look) => {
    const found = await look.of(kubelet);
    if (found.presence === 'running') return runningService(look, found);
    // What may be the kubelet is named with the whole report; more is not to be said here.
    if (found.presence === 'absent' || found.contradiction !== undefined) {
      return { state: 'absent' };
    }
    return missingService(look, found);
  },
});

/** In these the kernel counts the time of a start, on every machine that it runs on. */
const TICKS_PER_SECOND = 100;

async function runningService(look: Look, found: Kubelet): Promise<KubeletService> {
  const { pid = 0, startTime = '0' } = found.process ?? {};
  const running = { state: 'running', pid, isPaused: found.isPaused ?? false } as const;
  const uptime = await attempt(look.node.ask('file', { path: '/proc/uptime' }));
  if (!uptime.known) {
    // A recording of an earlier version: that it ran is known all the same.
    if (uptime.error.failure === 'not-recorded') return running;
    throw uptime.error;
  }
  // 17449.62 13353.31
  const ageS = Number.parseFloat(uptime.value) - Number(startTime) / TICKS_PER_SECOND;
  if (!(ageS < KUBELET_YOUNG_S)) return running;
  return { ...running, young: { ageS, unit: await unitOf(look, found) } };
}

async function missingService(look: Look, found: Kubelet): Promise<KubeletService> {
  const { root } = found;
  const all = await look.of(processes);
  const hidden = await hiddenProcesses(look, all);
  if (hidden !== undefined) return { state: 'uncertain', why: hidden };
  const unit = await unitOf(look, found);
  const pods = (await unlessMissing(look.node.ask('folder', { path: `${root}/pods` }))) ?? [];
  const other = otherSign(all, found.disbelieved, unit) ?? (await listenerSign(look));
  if (other !== undefined) return { state: 'uncertain', why: other };
  const live = all.flatMap(({ cgroups, state }) =>
    state === 'Z' ? [] : (podOfCgroup(cgroups) ?? []),
  );
  return {
    state: 'not-running',
    root,
    podFolders: pods.length,
    livePods: new Set(live).size,
    unit,
  };
}

/** The PID namespace that the kernel starts with has this number on every Linux. */
const FIRST_PID_NAMESPACE = 'pid:[4026531836]';

/** Why a kubelet could run that we do not see: without rights, or from within a container. */
async function hiddenProcesses(
  look: Look,
  all: readonly ProcessEntry[],
): Promise<string | undefined> {
  const namespace = await attempt(look.node.ask('link', { path: '/proc/1/ns/pid' }));
  if (!namespace.known) {
    return `no kubelet process is visible, and the node may hide processes: ${namespace.why}`;
  }
  if (namespace.value === FIRST_PID_NAMESPACE) return undefined;
  // A node inside a container, such as one of kind, sees the processes of its pods.
  const first = all.find(({ pid }) => pid === 1);
  const isNode =
    first !== undefined &&
    podOfCgroup(first.cgroups) === undefined &&
    all.some(({ cgroups }) => podOfCgroup(cgroups) !== undefined);
  return isNode
    ? undefined
    : "no kubelet process is visible, but this container may not see the node's processes: run it with hostPID, or on the node";
}

/** Whatever shows that a kubelet may run after all: one that began meanwhile, or has another name. */
function otherSign(
  all: readonly ProcessEntry[],
  disbelieved: readonly string[],
  { state }: ServiceUnit,
): string | undefined {
  const one = all.find(
    ({ pid, name, state: letter }) =>
      KUBELET_COMMS.has(name) &&
      letter !== 'Z' &&
      !disbelieved.some((text) => text.startsWith(`process ${pid} `)),
  );
  if (one) {
    return `process ${one.pid} (${one.name}) may be a kubelet that has just started; check again`;
  }
  if (state?.active !== 'active') return undefined;
  return `systemd calls ${state.unit} active, but no kubelet process is visible; if it has another name: --kubelet-pid`;
}

const KUBELET_PORT = 10_250;

async function listenerSign(look: Look): Promise<string | undefined> {
  for (const table of ['tcp', 'tcp6']) {
    const path = `/proc/1/net/${table}`;
    const text = await unlessMissing(look.node.ask('file', { path }));
    if (text !== undefined && listensOn(text, KUBELET_PORT)) {
      return `something listens on port ${KUBELET_PORT}, but no process is called kubelet; if it is one: --kubelet-pid`;
    }
  }
  return undefined;
}

function unitOf(look: Look, { program, presence }: Pick<Kubelet, 'program' | 'presence'>) {
  const { kubeletLog } = look.settings;
  const isRunning = presence === 'running';
  const usual = isRunning ? [] : usualFiles().map(({ path }) => path);
  return serviceUnit(look, {
    units: KUBELET_UNITS,
    programs: [...new Set([program, 'kubelet'])],
    files: kubeletLog === undefined ? usual : [kubeletLog],
    isRunning,
  });
}
