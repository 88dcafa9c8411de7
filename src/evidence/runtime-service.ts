import { defineEvidence, type Look } from '../model/evidence.ts';
import { attempt } from '../node/attempt.ts';
import type { ProcessEntry, ReadError } from '../node/node-reader.ts';
import { unlessMissing } from './file-path.ts';
import { type Kubelet, kubelet } from './kubelet.ts';
import { kubeletService } from './kubelet-service.ts';
import { RUNTIME_YOUNG_S } from './limits.ts';
import { podOfCgroup } from './pod-of-cgroup.ts';
import { processes } from './processes.ts';
import { runtime } from './runtime.ts';
import { type ServiceUnit, serviceUnit } from './service-unit.ts';

/** Whether the container runtime answers at the socket that the kubelet uses, and if not, how. */
export type RuntimeService =
  | { readonly state: 'answers' }
  | {
      readonly state: 'silent';
      /** refused: nobody listens. missing: there is no socket. timeout: it is connected, and silent. */
      readonly how: 'refused' | 'missing' | 'timeout';
      readonly socket: string;
      /** Who named this socket: "the kubelet (process 812)". */
      readonly namedBy: string;
      /** What the two calls ended with. */
      readonly calls: readonly string[];
      /** Of the runtime itself; none when it does not run. */
      readonly processes: readonly ProcessEntry[];
      /** Its usual name: "containerd", "crio". */
      readonly program: string;
      readonly livePods: number;
      readonly unit: ServiceUnit;
    }
  | { readonly state: 'uncertain'; readonly why: string };

type How = Extract<RuntimeService, { readonly state: 'silent' }>['how'];

export const runtimeService = defineEvidence<RuntimeService>({
  id: 'runtime-service',
  title: 'Whether the container runtime responds',
  collect: async (look) => {
    const found = await look.of(kubelet);
    const answered = await attempt(look.of(runtime));
    if (answered.known) return { state: 'answers' };
    const named = await namedSocket(look, found);
    // A socket that we only guessed may be of a runtime that nobody uses here.
    if (!named) return { state: 'uncertain', why: answered.why };
    const { error } = named.isTold
      ? answered
      : await attempt(look.node.ask('runtime', { socket: named.socket, call: 'Version' })).then(
          (again) => (again.known ? { error: undefined } : again),
        );
    if (!error) return { state: 'answers' };
    const how = howOf(error);
    if (how === undefined) return { state: 'uncertain', why: error.message };
    return silentService(look, { ...named, found, how, first: error });
  },
});

interface NamedSocket {
  readonly socket: string;
  readonly namedBy: string;
  /** By the command line or the configuration of the kubelet, or by the person who asks. */
  readonly isTold: boolean;
}

/** Of a kubelet that does not run, its log may say where it looked for the runtime. */
async function namedSocket(look: Look, found: Kubelet): Promise<NamedSocket | undefined> {
  const { runtimeSocket: socket, process } = found;
  if (socket !== undefined) {
    const namedBy = look.settings.runtimeEndpoint
      ? '--runtime-endpoint'
      : `the kubelet (process ${process?.pid})`;
    return { socket, namedBy, isTold: true };
  }
  if (process) return undefined;
  const service = await attempt(look.of(kubeletService));
  if (!service.known || service.value.state !== 'not-running') return undefined;
  const { events, lastLines } = service.value.unit;
  for (const { text } of [...events, ...lastLines].toReversed()) {
    // dial unix /run/containerd/containerd.sock: connect: connection refused
    const path = /dial unix (\/[^\s:"\\]+): connect: /.exec(text)?.[1];
    if (path !== undefined) return { socket: path, namedBy: "the kubelet's log", isTold: false };
  }
  return undefined;
}

function howOf({ failure }: ReadError): How | undefined {
  return failure === 'refused' || failure === 'missing' || failure === 'timeout'
    ? failure
    : undefined;
}

interface Silence extends NamedSocket {
  readonly found: Kubelet;
  readonly how: How;
  readonly first: ReadError;
}

async function silentService(look: Look, silence: Silence): Promise<RuntimeService> {
  const { socket, namedBy, found, how, first } = silence;
  if (how === 'missing') {
    const elsewhere = await inView(look, found, socket);
    if (elsewhere !== undefined) return { state: 'uncertain', why: elsewhere };
  }
  const all = await look.of(processes);
  const { program, names, units } = serviceAt(socket);
  const own = all.filter(({ name, state }) => names.includes(name) && state !== 'Z');
  const live = all.flatMap(({ cgroups }) => podOfCgroup(cgroups) ?? []);
  const unit = await serviceUnit(look, { units, programs: names, files: [LOG_OF_CONTAINERD] });
  // Asked last: one that was only restarted, or busy for a moment, answers by now.
  const again = await attempt(look.node.ask('runtime', { socket, call: 'ListPodSandbox' }));
  if (again.known) {
    return {
      state: 'uncertain',
      why: `the container runtime did not answer at first (${first.message}), and does now; check again`,
    };
  }
  if (howOf(again.error) === undefined) return { state: 'uncertain', why: again.why };
  const young = how === 'timeout' ? undefined : await youngest(look, own);
  if (young !== undefined) return { state: 'uncertain', why: young };
  const livePods = new Set(live).size;
  if (how === 'missing' && livePods === 0 && !(await hasPodFolders(look, found))) {
    return { state: 'uncertain', why: `${first.message}, and there are no pods here` };
  }
  return {
    state: 'silent',
    ...{ how, socket, namedBy, program, unit },
    calls: [first.message, again.error.message],
    processes: own,
    livePods,
  };
}

/** A kubelet in a container may have another socket at the same path. */
async function inView(look: Look, { process }: Kubelet, socket: string) {
  if (!process) return undefined;
  const path = `/proc/${process.pid}/root${socket}`;
  const seen = await unlessMissing(look.node.ask('status', { path }));
  return seen && `${socket} is there for the kubelet, but not in the node's own filesystem`;
}

async function hasPodFolders(look: Look, { process, root }: Kubelet): Promise<boolean> {
  const path = `${process ? `/proc/${process.pid}/root` : ''}${root}/pods`;
  const names = await unlessMissing(look.node.ask('folder', { path }));
  return (names ?? []).length > 0;
}

const TICKS_PER_SECOND = 100;

/** One that began a moment ago may not listen yet. */
async function youngest(look: Look, own: readonly ProcessEntry[]): Promise<string | undefined> {
  if (own.length === 0) return undefined;
  const uptimeS = Number.parseFloat(await look.node.ask('file', { path: '/proc/uptime' }));
  const young = own.find(
    ({ startTime }) => uptimeS - Number(startTime) / TICKS_PER_SECOND < RUNTIME_YOUNG_S,
  );
  if (!young) return undefined;
  return `${young.name} (process ${young.pid}) was started a moment ago and does not listen yet; check again`;
}

const LOG_OF_CONTAINERD = '/var/log/containerd.log';

interface ServiceNames {
  readonly program: string;
  /** The kernel's names of its process. */
  readonly names: readonly string[];
  readonly units: readonly string[];
}

/** Which service listens at a socket, by where distributions put it. */
function serviceAt(socket: string): ServiceNames {
  const [, ...known] =
    SERVICES.find(([pattern]) => pattern.test(socket)) ??
    ([/./, 'containerd', ['containerd'], ['containerd.service']] as const);
  const [program, names, units] = known;
  return { program, names, units };
}

const SERVICES: readonly (readonly [RegExp, string, readonly string[], readonly string[]])[] = [
  // /run/crio/crio.sock
  [/crio/, 'crio', ['crio'], ['crio.service', 'cri-o.service']],
  // /run/k3s/containerd/containerd.sock: k3s and rke2 start their own
  [
    /k3s/,
    'containerd',
    ['containerd', 'k3s-server', 'k3s-agent'],
    ['k3s.service', 'k3s-agent.service', 'rke2-agent.service', 'rke2-server.service'],
  ],
  [/microk8s/, 'containerd', ['containerd'], ['snap.microk8s.daemon-containerd.service']],
  [/k0s/, 'containerd', ['containerd'], ['k0sworker.service', 'k0scontroller.service']],
  [
    /cri-dockerd/,
    'cri-dockerd',
    ['cri-dockerd', 'dockerd'],
    ['cri-docker.service', 'docker.service'],
  ],
  [/dockershim/, 'dockerd', ['dockerd'], ['docker.service']],
  [/isulad/, 'isulad', ['isulad'], ['isulad.service']],
];
