import { defined } from '../../../lib/std/defined.ts';
import { textAt } from '../../../lib/std/json.ts';
import {
  type Attempt,
  attempt,
  defineEvidence,
  type EvidenceOption,
  optionValue,
  type Snapshot,
} from '../../model/evidence.ts';
import { type KubeletPage, originOf, type Question, ReadError } from '../../model/node-reader.ts';
import type { Origin } from '../../model/origin.ts';
import { trustedFile } from '../processes/trusted-file.ts';
import { parseVersionNumber, type VersionNumber } from '../text/version-number.ts';
import { kubernetesInside } from './edgecore-versions.ts';
import { type Kubelet, kubelet } from './kubelet.ts';
import { pagesOf } from './kubelet-page.ts';

/** The version of the kubelet's code, also inside another program. */
export interface KubeletVersion extends VersionNumber {
  /** Where it was read: "GET http://127.0.0.1:10255/metrics", "/proc/812/exe --version". */
  readonly origin: Origin;
  /** What it was derived from: "KubeEdge v1.13.0". */
  readonly via?: string;
  /** "last verified with KubeEdge v1.23.1": this release is assumed to contain the same kubelet. */
  readonly assumption?: string;
}

export const kubeletVersion = defineEvidence<KubeletVersion>({
  id: 'kubelet-version',
  title: 'The version of the kubelet',
  command: 'kubelet --version',
  collect: async (snapshot) => {
    const found = await snapshot.of(kubelet);
    const tried: Attempt<KubeletVersion>[] = [];
    for (const source of sourcesFor(snapshot, found)) {
      const answer = await attempt(source());
      if (answer.known) return answer.value;
      tried.push(answer);
    }
    throw noVersion(tried, found);
  },
});

/** What the program of one process printed when an earlier check asked it for its version. */
export interface PrintedVersion {
  /** PID and start time: another process may run another program. */
  readonly process: string;
  readonly text: string;
}

/** A watch sets it, because running the kubelet costs as much as all reads of a check. */
export const printedVersion: EvidenceOption<PrintedVersion> = {
  name: 'printedVersion',
  read: (value) => {
    const [process, text] = [textAt(value, 'process'), textAt(value, 'text')];
    return process === undefined || text === undefined ? undefined : { process, text };
  },
};

/** What to pass to the next check. Undefined if this one did not need the program. */
export async function versionPrinted(snapshot: Snapshot): Promise<PrintedVersion | undefined> {
  const found = await attempt(snapshot.of(kubelet));
  const process = found.known ? found.value.process : undefined;
  if (!found.known || !process) return undefined;
  const known = knownFor(snapshot, process);
  if (known) return known;
  const read = await attempt(snapshot.node.ask('version', questionOf(process, found.value)));
  return read.known ? { process: idOf(process), text: read.value } : undefined;
}

type Process = NonNullable<Kubelet['process']>;

function knownFor(snapshot: Snapshot, process: Process): PrintedVersion | undefined {
  const known = optionValue(printedVersion, snapshot.settings);
  return known?.process === idOf(process) ? known : undefined;
}

function idOf({ pid, startTime }: Process): string {
  return `${pid}/${startTime}`;
}

type Source = () => Promise<KubeletVersion>;

/** The first answer counts. The program is last, because we must execute it. */
function sourcesFor(snapshot: Snapshot, found: Kubelet): readonly Source[] {
  if (found.presence === 'absent') return [];
  if (!found.process) return USUAL_PROGRAMS.map((path) => () => fromFile(snapshot, path));
  const { process } = found;
  return [
    ...pagesOf(found, '/metrics').map((page) => () => fromMetrics(snapshot, page)),
    () => fromProcess(snapshot, process, found),
  ];
}

function noVersion(tried: readonly Attempt<KubeletVersion>[], { process }: Kubelet): ReadError {
  const failures = tried.filter((answer) => !answer.known);
  if (!process && failures.every(({ error }) => error.failure === 'missing')) {
    const detail =
      failures.length === 0
        ? 'there is no kubelet'
        : 'no kubelet runs, and no program of one is at the usual places';
    return new ReadError('missing', 'the version of the kubelet', detail);
  }
  const { failure = 'missing' } =
    failures.find(({ error }) => error.failure === 'unsupported')?.error ??
    failures.find(({ error }) => error.failure !== 'missing')?.error ??
    {};
  const detail = failures.map(({ why }) => why).join('; ');
  const cause = failures.map(({ error }) => error);
  return new ReadError(failure, 'the version of the kubelet', detail, { cause });
}

async function fromMetrics(snapshot: Snapshot, page: KubeletPage): Promise<KubeletVersion> {
  const origin = originOf(page);
  const { status, body } = await snapshot.node.ask('kubelet', page);
  if (status !== 200) {
    const failure = status === 401 || status === 403 ? 'denied' : 'failed';
    throw new ReadError(failure, origin, `it answered ${status}`);
  }
  return { ...parseBuildInfo(body, origin), origin };
}

// kubernetes_build_info{build_date="2026-08-13T16:04:18Z",git_version="v1.36.3",major="1"} 1
// kubernetes_build_info{buildDate="2020-08-13T16:04:18Z",gitVersion="v1.18.8",major="1"} 1
const BUILD_INFO = /^kubernetes_build_info\{[^\n]*?\bgit(?:_v|V)ersion="([^"\n]*)"/m;

export function parseBuildInfo(metrics: string, origin: string | Origin): VersionNumber {
  const text = BUILD_INFO.exec(metrics)?.[1];
  if (text === undefined) throw new ReadError('malformed', origin, 'no kubernetes_build_info');
  const version = parseVersionNumber(text, origin);
  // v0.0.0-master+$Format:%H$: built without a version, as edgecore is.
  if (version.major === 0) throw new ReadError('unsupported', origin, `${text} is not a version`);
  return version;
}

async function fromProcess(
  snapshot: Snapshot,
  process: Process,
  found: Kubelet,
): Promise<KubeletVersion> {
  const { pid, executable } = process;
  // /usr/bin/kubelet (deleted)
  if (executable.endsWith(' (deleted)')) {
    throw new ReadError('unsupported', executable, 'its file was replaced since it was started');
  }
  const question = questionOf(process, found);
  const known = knownFor(snapshot, process);
  if (known) return versionIn(known.text, question);
  await trustedFile(snapshot, `/proc/${pid}/root`, executable);
  return versionIn(await snapshot.node.ask('version', question), question);
}

function questionOf({ pid }: Process, { program }: Kubelet): ProgramQuestion {
  return { program: `/proc/${pid}/exe`, arguments: argumentsOf(program) };
}

/** The default paths of kubelets, for when none runs. */
const USUAL_PROGRAMS = [
  '/usr/bin/kubelet',
  '/usr/local/bin/kubelet',
  '/opt/bin/kubelet',
  '/opt/kubernetes/bin/kubelet',
  '/usr/local/bin/k3s',
  '/usr/local/bin/edgecore',
  '/usr/bin/edgecore',
];

async function fromFile(snapshot: Snapshot, path: string): Promise<KubeletVersion> {
  const program = await trustedFile(snapshot, '', path);
  const question = { program, arguments: argumentsOf('kubelet') };
  return versionIn(await snapshot.node.ask('version', question), question);
}

type ProgramQuestion = Question<'version'>;

function argumentsOf(program: string): readonly string[] {
  return program === 'hyperkube' ? ['kubelet', '--version'] : ['--version'];
}

function versionIn(printed: string, question: ProgramQuestion): KubeletVersion {
  const origin = originOf(question);
  return { ...parseProgramVersion(printed, origin), origin };
}

// Kubernetes v1.18.8
// k3s version v1.28.5+k3s1 (5b2d1271)
// KubeEdge v1.13.0
const PRINTED = /^\s*(Kubernetes|KubeEdge|k3s version|rke2 version) (\S+)/;

export function parseProgramVersion(
  text: string,
  origin: string | Origin,
): VersionNumber & Pick<KubeletVersion, 'via' | 'assumption'> {
  const [, program, number] = PRINTED.exec(text) ?? [];
  if (number === undefined) throw new ReadError('malformed', origin, 'it printed no version');
  const version = parseVersionNumber(number, origin);
  if (program !== 'KubeEdge') return version;
  const inside = kubernetesInside(version);
  if (inside === undefined) {
    const detail = `the kubelet inside KubeEdge ${version.text} is not known to us`;
    throw new ReadError('unsupported', origin, detail);
  }
  const { kubernetes, assumption } = inside;
  const via = `KubeEdge ${version.text}`;
  return defined({ ...parseVersionNumber(kubernetes, origin), via, assumption });
}
