import { containerStatuses } from '../evidence/container-statuses.ts';
import { containers } from '../evidence/containers.ts';
import { type Health, health, healthIn } from '../evidence/health.ts';
import { type Kubelet, kubelet } from '../evidence/kubelet.ts';
import { kubeletVersion } from '../evidence/kubelet-version.ts';
import { leftoverFolders } from '../evidence/leftover-folders.ts';
import { mountTable } from '../evidence/mount-table.ts';
import { pods } from '../evidence/pods.ts';
import { startRefusals } from '../evidence/start-refusals.ts';
import { unloggedContainers } from '../evidence/unlogged-containers.ts';
import type { Evidence } from '../model/evidence.ts';
import type { NodeReader } from '../node/node-reader.ts';
import { type Gathering, gather } from './gathering.ts';
import type { GivenFile, TakenFile } from './given-file.ts';
import { kubeletsTable } from './given-mounts.ts';
import { givenNode } from './given-node.ts';
import { givenRoot } from './given-root.ts';
import { listedVolumes } from './listed-folders.ts';

/** The evidence that the given texts hold, all of them together. */
export interface CaseFile {
  readonly files: readonly TakenFile[];
  readonly values: ReadonlyMap<Evidence<unknown>, unknown>;
  /** Answers for evidence that is collected as on a node, such as the words of a runtime. */
  readonly node: NodeReader;
  /** Evidence that is there but not as a whole, and what it lacks. */
  readonly gaps: ReadonlyMap<Evidence<unknown>, string>;
}

/** Where the runtime of a case file can be asked; nobody listens there but the file. */
const SOCKET = 'given';

/** Makes evidence of loose texts, whichever of them somebody happened to send. */
export async function caseFileOf(files: readonly GivenFile[], now: Date): Promise<CaseFile> {
  const gathered = await gather(files);
  const { root, rootOrigin } = givenRoot(
    gathered.tables.map(({ table }) => table),
    files.map(({ text }) => text),
  );
  const values = new Map<Evidence<unknown>, unknown>();
  const gaps = new Map<Evidence<unknown>, string>();
  values.set(kubelet, givenKubelet(root, rootOrigin));
  values.set(startRefusals, gathered.refusals);
  addMounts(gathered, root, values, gaps);
  addVersion(gathered, values, gaps);
  addPods(gathered, values, gaps);
  addRuntimeGaps(gathered, gaps);
  const said = healthOf(gathered);
  if (said) values.set(health, said);
  const volumes = listedVolumes(gathered.paths, root);
  if (volumes) gaps.set(leftoverFolders, 'names alone do not tell age, content and mounts');
  return {
    files: gathered.files,
    values,
    node: givenNode({ now, runtime: gathered.runtime, volumes }),
    gaps,
  };
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
    disbelieved: [],
    doubts: [],
  };
}

type Values = Map<Evidence<unknown>, unknown>;
type Gaps = Map<Evidence<unknown>, string>;

function addMounts({ tables }: Gathering, root: string, values: Values, gaps: Gaps): void {
  const own = kubeletsTable(tables, root);
  if (!own) return;
  values.set(mountTable, own.table);
  const isKubelets = own.table.mounts.some(({ target }) => target.startsWith(`${root}/`));
  if (!own.isWhole) gaps.set(mountTable, 'only some of its lines');
  else if (!isKubelets) gaps.set(mountTable, 'it shows nothing of a kubelet');
}

function addVersion({ versions }: Gathering, values: Values, gaps: Gaps): void {
  const [first] = versions;
  if (!first) return;
  const others = [...new Set(versions.map(({ text }) => text))];
  if (others.length === 1) values.set(kubeletVersion, first);
  else gaps.set(kubeletVersion, `the texts name several: ${others.join(', ')}`);
}

function addPods(
  { pods: list, podOrigin, hasPodList }: Gathering,
  values: Values,
  gaps: Gaps,
): void {
  if (list.length === 0 && !hasPodList) return;
  values.set(pods, { pods: list, origin: podOrigin });
  if (!hasPodList) gaps.set(pods, 'single pods only');
}

function addRuntimeGaps({ runtime }: Gathering, gaps: Gaps): void {
  if (runtime.isEmpty) return;
  if (!runtime.hasContainerList || !runtime.hasSandboxList) {
    const gap = "not the runtime's own list of all containers and sandboxes";
    for (const each of [containers, containerStatuses, unloggedContainers]) gaps.set(each, gap);
  }
}

function healthOf({ parts }: Gathering): Health | undefined {
  for (const { text, name } of parts.get('health') ?? []) {
    const said = healthIn(text);
    if (said) return { ...said, origin: name };
  }
  return undefined;
}
