import {
  type Attempt,
  attempt,
  defineEvidence,
  type Snapshot,
  type UnknownReason,
} from '../../model/evidence.ts';
import type { ProcessEntry, ReadError } from '../../model/node-reader.ts';
import { runtime } from '../containers/runtime.ts';
import { serviceAt } from '../containers/runtime-names.ts';
import { type Kubelet, kubelet, podsPathOf } from '../kubelet/kubelet.ts';
import { CRASH_LOOP_EXITS_MIN, RUNTIME_YOUNG_S } from '../limits.ts';
import { isHang } from '../mounts/probe-result.ts';
import { podOfCgroup } from '../pods/pod-of-cgroup.ts';
import { ageOf, countLivePods, processes, uptimeOf } from '../processes/processes.ts';
import { unlessMissing } from '../text/file-path.ts';
import { isCrashLoop } from './crash-loop.ts';
import { kubeletService } from './kubelet-service.ts';
import { type ServiceUnit, serviceUnit } from './service-unit.ts';
import { changeUnderWay, waitsForRestart } from './unit-change.ts';

/** Whether the container runtime answers at the socket of the kubelet, and if not, how it fails. */
export type RuntimeService =
  | { readonly state: 'answers' }
  | {
      readonly state: 'silent';
      /** refused: nothing listens. missing: no socket. timeout: connected, but no answer. */
      readonly how: 'refused' | 'missing' | 'timeout';
      readonly socket: string;
      /** The source of the socket: "the kubelet (process 812)". */
      readonly namedBy: string;
      /** The errors of the two calls. */
      readonly calls: readonly string[];
      /** The processes of the runtime; empty if it does not run. */
      readonly processes: readonly ProcessEntry[];
      /** The usual name of the program: "containerd", "crio". */
      readonly program: string;
      /** Where it stores images and containers. */
      readonly folder: string;
      /** The systemd unit, or its usual name. */
      readonly unitName: string;
      readonly livePods: number;
      readonly unit: ServiceUnit;
    }
  | ({ readonly state: 'uncertain' } & UnknownReason);

type How = Extract<RuntimeService, { readonly state: 'silent' }>['how'];

export const runtimeService = defineEvidence<RuntimeService>({
  id: 'runtime-service',
  title: 'Whether the container runtime responds',
  collect: async (snapshot) => {
    const found = await snapshot.of(kubelet);
    const mismatch = await otherSocket(snapshot, found);
    if (mismatch !== undefined) return { state: 'uncertain', why: mismatch };
    const answered = await attempt(snapshot.of(runtime));
    if (answered.known) return { state: 'answers' };
    const named = await namedSocket(snapshot, found);
    // A default socket may be of a runtime that this node does not use.
    if (!named) {
      const only = '; only --runtime-endpoint names this socket, and not the kubelet';
      const isGiven = snapshot.settings.runtimeEndpoint !== undefined;
      const why = `${answered.why}${isGiven ? only : ''}`;
      return { state: 'uncertain', why, error: answered.error };
    }
    const again =
      named.socket === found.runtimeSocket
        ? answered
        : await attempt(snapshot.node.ask('runtime', { socket: named.socket, call: 'Version' }));
    if (again.known) return { state: 'answers' };
    const { error } = again;
    const how = howOf(error);
    if (how === undefined) return { state: 'uncertain', why: error.message, error };
    return silentService(snapshot, found, named, how, error);
  },
});

interface NamedSocket {
  readonly socket: string;
  readonly namedBy: string;
}

/** The state of another socket than the kubelet's says nothing about the kubelet's runtime. */
async function otherSocket(snapshot: Snapshot, found: Kubelet): Promise<string | undefined> {
  const { process, runtimeSocket: given, ownRuntimeSocket: own } = found;
  if (!process || given === undefined || own === undefined) return undefined;
  if (inRun(given) === inRun(own)) return undefined;
  // The kubelet may have the same socket at another path, for example in a container.
  const [here, there] = await Promise.all(
    [given, `/proc/${process.pid}/root${own}`].map((path) =>
      unlessMissing(snapshot.node.ask('status', { path })),
    ),
  );
  if (here && there && here.device === there.device && here.inode === there.inode) return undefined;
  return `--runtime-endpoint names ${given}, but the kubelet (process ${process.pid}) uses ${own}; leave the option out, or correct it`;
}

/** /var/run is a link to /run on current distributions. */
function inRun(path: string): string {
  return path.replace(/^\/var\/run\//, '/run/');
}

/** The socket that the kubelet uses. If it does not run, its log may name the socket. */
async function namedSocket(snapshot: Snapshot, found: Kubelet): Promise<NamedSocket | undefined> {
  const { runtimeSocket: socket, ownRuntimeSocket: own, process } = found;
  if (process) {
    const isNamed = snapshot.settings.runtimeEndpoint === undefined || own !== undefined;
    if (socket === undefined || !isNamed) return undefined;
    return { socket, namedBy: `the kubelet (process ${process.pid})` };
  }
  const service = await attempt(snapshot.of(kubeletService));
  if (!service.known || service.value.state !== 'not-running') return undefined;
  const { events, lastLines } = service.value.unit;
  const path = [...lastLines, ...events].flatMap(({ text }) => dialledSocket(text)).at(-1);
  return path === undefined ? undefined : { socket: path, namedBy: "the kubelet's log" };
}

// failed to run Kubelet: validate service connection: ... dial unix /run/containerd/containerd.sock: connect: ...
// failed to run Kubelet: unable to determine runtime API version: ... dial unix /run/crio/crio.sock: connect: ...
const DIALLED =
  /(?:ailed to run Kubelet|validate service connection|runtime API version)[^\n]*dial unix (\/[^\s:"\\]+): connect: /;

/** The kubelet also connects to sockets below its root: those of CSI drivers and device plugins. */
const OF_PLUGINS = /\/(?:plugins|plugins_registry|device-plugins|pod-resources)\//;

function dialledSocket(text: string): readonly string[] {
  const path = DIALLED.exec(text)?.[1];
  return path === undefined || OF_PLUGINS.test(path) ? [] : [path];
}

function howOf(error: ReadError): How | undefined {
  const { failure } = error;
  if (failure === 'refused' || failure === 'missing') return failure;
  return isHang(error) ? 'timeout' : undefined;
}

async function silentService(
  snapshot: Snapshot,
  found: Kubelet,
  { socket, namedBy }: NamedSocket,
  how: How,
  first: ReadError,
): Promise<RuntimeService> {
  if (how === 'missing') {
    const elsewhere = await inView(snapshot, found, socket);
    if (elsewhere !== undefined) return { state: 'uncertain', why: elsewhere };
  }
  const all = await snapshot.of(processes);
  const { program, names, units, folder } = serviceAt(socket);
  const own = runtimeProcesses(all, socket);
  const unit = await serviceUnit(snapshot, { units, programs: names, files: [LOG_OF_CONTAINERD] });
  // The second call is last: a runtime that was restarted, or busy for a moment, answers by then.
  const again = await attempt(snapshot.node.ask('runtime', { socket, call: 'ListPodSandbox' }));
  const changing =
    changeOf(first, again, how) ?? startOf(unit, own) ?? (await youngest(snapshot, own));
  if (again.known || changing !== undefined) return { state: 'uncertain', why: changing ?? '' };
  const livePods = countLivePods(all);
  if (how === 'missing' && livePods === 0 && !(await hasPodFolders(snapshot, found))) {
    return {
      state: 'uncertain',
      why: `${first.message}, and there are no pods here`,
      error: first,
    };
  }
  return {
    state: 'silent',
    ...{ how, socket, namedBy, program, folder, unit, livePods },
    unitName: unit.state?.unit ?? units[0] ?? `${program}.service`,
    calls: [first.message, again.error.message],
    processes: own,
  };
}

/** The processes of the runtime. One in a pod, such as Docker in Docker, is not the node's. */
export function runtimeProcesses(
  all: readonly ProcessEntry[],
  socket: string,
): readonly ProcessEntry[] {
  const { names } = serviceAt(socket);
  return all.filter(
    ({ name, state, cgroups }) =>
      names.includes(name) && state !== 'Z' && podOfCgroup(cgroups) === undefined,
  );
}

/** Why two calls give different results; undefined if they do not. */
function changeOf(first: ReadError, again: Attempt<unknown>, how: How): string | undefined {
  if (again.known) {
    return `the container runtime did not answer at first (${first.message}), and does now; check again`;
  }
  const then = howOf(again.error);
  if (then === how) return undefined;
  if (then === undefined) return again.why;
  return `two calls to the container runtime ended differently (${first.message}; ${again.error.message}); it may be restarting, check again`;
}

/** systemd is starting or stopping the runtime, so the failure is temporary. */
function startOf({ state, events }: ServiceUnit, own: readonly ProcessEntry[]): string | undefined {
  if (!state) return undefined;
  const isFirstEnd = state.restarts < CRASH_LOOP_EXITS_MIN && !isCrashLoop(events);
  if (waitsForRestart(state) && isFirstEnd) {
    return `the container runtime has ended, and systemd starts ${state.unit} again in a moment; check again`;
  }
  // A runtime that has run for long and does not listen hangs during its start.
  const isHungAtStart = state.active === 'activating' && own.length > 0;
  return isHungAtStart ? undefined : changeUnderWay(state);
}

/** A kubelet in a container may have another socket at the same path. */
async function inView(snapshot: Snapshot, { process }: Kubelet, socket: string) {
  if (!process) return undefined;
  const path = `/proc/${process.pid}/root${socket}`;
  const seen = await unlessMissing(snapshot.node.ask('status', { path }));
  return seen && `${socket} is there for the kubelet, but not in the node's own filesystem`;
}

async function hasPodFolders(snapshot: Snapshot, found: Kubelet): Promise<boolean> {
  const names = await unlessMissing(snapshot.node.ask('folder', { path: podsPathOf(found) }));
  return (names ?? []).length > 0;
}

/**
 * A process that started a moment ago may not listen yet. A stopped process (SIGSTOP) will not, at
 * any age.
 */
async function youngest(
  snapshot: Snapshot,
  own: readonly ProcessEntry[],
): Promise<string | undefined> {
  const running = own.filter(({ state }) => state !== 'T');
  if (running.length === 0) return undefined;
  const uptimeS = await uptimeOf(snapshot);
  const young = running.find(
    ({ startTime }) => (ageOf(startTime, uptimeS) ?? Number.POSITIVE_INFINITY) < RUNTIME_YOUNG_S,
  );
  if (!young) return undefined;
  return `${young.name} (process ${young.pid}) was started a moment ago and does not answer yet; check again`;
}

const LOG_OF_CONTAINERD = '/var/log/containerd.log';
