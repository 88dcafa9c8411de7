import { parseGoroutineDump } from '../../lib/go/dump-parser.ts';
import { containerStatuses } from '../evidence/containers/container-statuses.ts';
import { containers } from '../evidence/containers/containers.ts';
import { startRefusals } from '../evidence/containers/start-refusals.ts';
import { unloggedContainers } from '../evidence/containers/unlogged-containers.ts';
import { readDeletionTrace } from '../evidence/deletions/deletion-trace.ts';
import { mergedUsr } from '../evidence/deletions/merged-usr.ts';
import { type WatchedDeletion, watchedDeletions } from '../evidence/deletions/watched-deletions.ts';
import { goroutines } from '../evidence/kubelet/goroutines.ts';
import { health, healthIn } from '../evidence/kubelet/health.ts';
import { type Kubelet, kubelet } from '../evidence/kubelet/kubelet.ts';
import { kubeletVersion } from '../evidence/kubelet/kubelet-version.ts';
import { kernelLog } from '../evidence/logs/kernel-log.ts';
import { kubeletLog } from '../evidence/logs/kubelet-log.ts';
import {
  endOfLog,
  type KubeletLog,
  kubeletLogOf,
  mergedLogs,
} from '../evidence/logs/log-entries.ts';
import { SIGNATURES } from '../evidence/logs/log-signatures.ts';
import { mountNamespaces } from '../evidence/mounts/mount-namespaces.ts';
import { mountTable } from '../evidence/mounts/mount-table.ts';
import { pods } from '../evidence/pods/pods.ts';
import { syncLoopIn } from '../evidence/stacks/sync-loop.ts';
import { syncLoopDump } from '../evidence/stacks/sync-loop-dump.ts';
import { leftoverFolders } from '../evidence/volumes/leftover-folders.ts';
import { teardownLog } from '../evidence/volumes/teardown-log.ts';
import { type Evidence, type Snapshot, snapshotOf } from '../model/evidence.ts';
import type { AnyFault } from '../model/fault.ts';
import { type NodeReader, ReadError, type TreeFolder } from '../model/node-reader.ts';
import { type Gathering, gather } from './gathering.ts';
import { givenLinks } from './given-links.ts';
import { givenLogPaths } from './given-log-paths.ts';
import { kubeletsTable, otherNamespaces } from './given-mounts.ts';
import { givenNode } from './given-node.ts';
import { givenRoot } from './given-root.ts';
import type { GivenRuntime } from './given-runtime.ts';
import { listedVolumes } from './listed-folders.ts';
import { type Noted, notedIn } from './noted.ts';
import type { GivenFile, Part, TakenFile } from './part.ts';
import { suspicionsIn } from './suspicions.ts';

/** The evidence that the given texts hold, all of them together. */
export interface CaseFile {
  readonly files: readonly TakenFile[];
  readonly values: ReadonlyMap<Evidence<unknown>, unknown>;
  /** How evidence is collected that the texts hold in part. */
  readonly collectors: ReadonlyMap<Evidence<unknown>, (snapshot: Snapshot) => Promise<unknown>>;
  /** Answers for evidence that is collected as on a node, such as the words of a runtime. */
  readonly node: NodeReader;
  readonly runtime: GivenRuntime;
  /** Evidence that is there but not as a whole, and what it lacks. */
  readonly gaps: ReadonlyMap<Evidence<unknown>, string>;
  /** What a text hints at without being evidence of it, by the id of the fault. */
  readonly suspicions: ReadonlyMap<string, string>;
  /** What the collector says that it could not read. */
  readonly noted: Noted;
}

/** Where the runtime of a case file can be asked; nothing listens there but the file. */
const SOCKET = 'given';

/** Makes evidence of loose texts, whichever of them somebody happened to send. */
export async function caseFileOf(
  files: readonly GivenFile[],
  now: Date,
  faults: readonly AnyFault[],
): Promise<CaseFile> {
  const gathered = await gather(files);
  const { root, rootOrigin } = givenRoot(
    gathered.tables.map(({ table }) => table),
    files.map(({ text }) => text),
    gathered.commandLine,
  );
  const values = new Map<Evidence<unknown>, unknown>();
  const gaps = new Map<Evidence<unknown>, string>();
  values.set(kubelet, givenKubelet(root, rootOrigin));
  values.set(startRefusals, gathered.refusals);
  addMounts(gathered, root, values, gaps);
  addVersion(gathered, values, gaps);
  addPods(gathered, values, gaps);
  addRuntimeGaps(gathered, gaps);
  const log = addLogs(gathered, { now, faults }, values, gaps);
  values.set(watchedDeletions, watchedIn(gathered));
  const volumes = givenVolumes(gathered, root, gaps);
  for (const { whole, extent } of gathered.parts.get('listing') ?? []) {
    const links = givenLinks(whole);
    if (links) values.set(mergedUsr, links);
    if (links && extent === 'cut') gaps.set(mergedUsr, 'the text is cut');
  }
  const noted = notedIn(gathered.notes);
  const ofTable = noted.of.get(mountTable);
  if (ofTable !== undefined)
    gaps.set(mountTable, 'not that of a running kubelet, or not all of it');
  return {
    files: gathered.files,
    values,
    collectors: collectorsOf(gathered, log),
    // The last time in the texts is the moment at which they were taken.
    node: givenNode({ now: (log && endOfLog(log)) ?? now, runtime: gathered.runtime, volumes }),
    runtime: gathered.runtime,
    gaps,
    suspicions: suspicionsIn(gathered, now, faults),
    noted,
  };
}

/** Names alone show that there are no leftovers; they say little about an existing one. */
function givenVolumes(
  { paths, parts }: Gathering,
  root: string,
  gaps: Gaps,
): readonly TreeFolder[] | undefined {
  const listed = listedVolumes(paths, root);
  const isAll = (parts.get('listing') ?? []).some(isAllVolumes);
  const hasLeftovers = paths.some((path) => path.includes('.deleting~'));
  if (listed && hasLeftovers) {
    gaps.set(leftoverFolders, 'names alone do not show age, content and mounts');
  } else if (listed && !isAll) gaps.set(leftoverFolders, 'perhaps only some of them');
  return listed;
}

/** The list of all volumes, as our collector writes it. */
function isAllVolumes({ collected, extent }: Part): boolean {
  return collected === 'volumes.txt' && extent === 'whole';
}

/** Nothing is known of the process; that somebody has one is why they sent these texts. */
function givenKubelet(root: string, rootOrigin: string): Kubelet {
  return {
    presence: 'running',
    program: 'kubelet',
    root,
    rootOrigin,
    runtimeSocket: SOCKET,
    readOnlyPort: 0,
    securePort: 0,
    address: '127.0.0.1',
    rejected: [],
    unknowns: [],
  };
}

function collectorsOf({ runtime }: Gathering, log: KubeletLog | undefined): CaseFile['collectors'] {
  if (runtime.inspected.size === 0) return new Map();
  return new Map([[unloggedContainers, (snapshot) => givenLogPaths(runtime, log, snapshot)]]);
}

type Values = Map<Evidence<unknown>, unknown>;
type Gaps = Map<Evidence<unknown>, string>;

function addMounts({ tables }: Gathering, root: string, values: Values, gaps: Gaps): void {
  const own = kubeletsTable(tables, root);
  if (tables.some((each) => each !== own)) {
    values.set(mountNamespaces, otherNamespaces(tables, own));
    gaps.set(mountNamespaces, 'some tables of many');
  }
  if (!own) return;
  values.set(mountTable, own.table);
  const isKubelets = own.table.mounts.some(({ target }) => target.startsWith(`${root}/`));
  if (!own.isWhole) gaps.set(mountTable, 'only some of its lines');
  else if (!isKubelets) gaps.set(mountTable, 'it shows nothing of a kubelet');
}

function addVersion({ versions, isVersionCut }: Gathering, values: Values, gaps: Gaps): void {
  const [first] = versions;
  if (!first) return;
  const others = [...new Set(versions.map(({ text }) => text))];
  if (others.length === 1) values.set(kubeletVersion, first);
  else gaps.set(kubeletVersion, `the texts name several: ${others.join(', ')}`);
  if (isVersionCut) gaps.set(kubeletVersion, 'the text ends with it, and may be cut');
}

function addPods(
  { pods: list, podOrigin, hasPodList }: Gathering,
  values: Values,
  gaps: Gaps,
): void {
  if (!podOrigin || (list.length === 0 && !hasPodList)) return;
  values.set(pods, { pods: list, origin: podOrigin });
  if (!hasPodList) gaps.set(pods, 'single pods only');
}

function addRuntimeGaps({ runtime }: Gathering, gaps: Gaps): void {
  if (runtime.isEmpty) return;
  if (!runtime.hasContainerList || !runtime.hasSandboxList) {
    const gap = "not the runtime's own list of all containers and sandboxes";
    for (const each of [containers, containerStatuses, unloggedContainers]) gaps.set(each, gap);
  } else if (runtime.containers.length > runtime.inspected.size) {
    gaps.set(unloggedContainers, 'not the log paths of all containers');
  }
}

/** The logs of the kubelet and of the kernel, the kubelet's health, and its goroutines. */
function addLogs(
  { parts }: Gathering,
  { now, faults }: { readonly now: Date; readonly faults: readonly AnyFault[] },
  values: Values,
  gaps: Gaps,
): KubeletLog | undefined {
  const declared = faults.flatMap(({ logSignatures = [] }) => logSignatures);
  const signatures = [...SIGNATURES, ...declared];
  const logOf = (kind: 'log' | 'kernel-log') => {
    const logs = (parts.get(kind) ?? []).map(({ text, name }) =>
      kubeletLogOf(text, name, { now, signatures }),
    );
    return logs.length > 0 ? mergedLogs(logs, []) : undefined;
  };
  const log = logOf('log');
  if (log) values.set(kubeletLog, log);
  const kernel = logOf('kernel-log');
  if (kernel) values.set(kernelLog, kernel);
  if ((parts.get('log') ?? []).some(({ extent }) => extent !== 'whole')) {
    gaps.set(kubeletLog, 'perhaps only a part of it');
    gaps.set(teardownLog, 'perhaps only a part of it');
  }
  for (const { text, name } of parts.get('health') ?? []) {
    const said = healthIn(text);
    if (said) values.set(health, { ...said, origin: { file: name } });
  }
  for (const { text, name } of parts.get('goroutines') ?? []) {
    const dump = parseGoroutineDump(text);
    if (dump.format === 'none') continue;
    values.set(goroutines, { dump, origin: { file: name } });
    const loop = syncLoopIn(dump);
    if (loop.state === 'unknown') gaps.set(syncLoopDump, loop.why);
    else if (dump.isCut) gaps.set(syncLoopDump, 'the dump is cut');
  }
  return log;
}

function watchedIn({ parts }: Gathering): readonly WatchedDeletion[] {
  return (parts.get('trace') ?? []).flatMap(({ text, name }) =>
    (readDeletionTrace(text)?.deletions ?? []).map((deletion) => ({
      ...deletion,
      origin: { file: name, line: deletion.line },
    })),
  );
}

/** A snapshot that has only the given texts. Nothing is guessed for the rest. */
export function givenSnapshot({ values, collectors, node }: CaseFile): Snapshot {
  const around = { node, settings: {}, logSignatures: [] };
  return snapshotOf(around, async <T>(evidence: Evidence<T>, snapshot: Snapshot) => {
    if (values.has(evidence)) return values.get(evidence) as T;
    const special = collectors.get(evidence);
    if (special) return (await special(snapshot)) as T;
    if (evidence.isDerived) return evidence.collect(snapshot);
    throw new ReadError('not-recorded', evidence.title, 'not among what was given');
  });
}
