import { listAt, textAt } from '../../lib/std/json.ts';
import type { StartRefusal } from '../evidence/containers/start-refusals.ts';
import type { KubeletVersion } from '../evidence/kubelet/kubelet-version.ts';
import { type Pod, parsePods } from '../evidence/pods/pods.ts';
import { attempt } from '../model/evidence.ts';
import type { Origin } from '../model/origin.ts';
import { type CollectedText, collectedText } from './collected.ts';
import {
  DOCUMENT_KINDS,
  type Document,
  type DocumentKind,
  documentKind,
  documentsIn,
} from './documents.ts';
import { type GivenTable, givenTable } from './given-mounts.ts';
import { GivenRuntime } from './given-runtime.ts';
import {
  versionsInLog,
  versionsInMetrics,
  versionsInNodes,
  versionsInText,
} from './given-version.ts';
import { listedPaths } from './listed-folders.ts';
import type { GivenFile, Part, TakenFile } from './part.ts';
import { quotedRefusals } from './quoted-refusals.ts';
import { TEXT_KINDS, type TextKind, textKinds } from './text-kinds.ts';

/** All that was recognised in the given files, before anything is made of it. */
export interface Gathering {
  readonly files: readonly TakenFile[];
  readonly tables: readonly GivenTable[];
  readonly runtime: GivenRuntime;
  readonly pods: readonly Pod[];
  /** A list of all pods of somebody was among them, not single pods only. */
  readonly hasPodList: boolean;
  readonly podOrigin?: Origin;
  readonly versions: readonly KubeletVersion[];
  /** A text ends with a version, perhaps in the middle of its number. */
  readonly isVersionCut: boolean;
  /** What our collector noted, line by line. */
  readonly notes: readonly string[];
  /** The words that the kubelet was started with. */
  readonly commandLine: readonly string[];
  readonly refusals: readonly StartRefusal[];
  readonly paths: readonly string[];
  readonly parts: ReadonlyMap<TextKind, readonly Part[]>;
}

/** The same while it is gathered. */
type Draft = { -readonly [K in keyof Gathering]: Growing<Gathering[K]> };
type Growing<T> = T extends readonly (infer U)[]
  ? U[]
  : T extends ReadonlyMap<infer K, readonly (infer V)[]>
    ? Map<K, V[]>
    : T;

/** Recognises each file by what stands in it, never by its name. */
export async function gather(files: readonly GivenFile[]): Promise<Gathering> {
  const draft: Draft = {
    files: [],
    tables: [],
    runtime: new GivenRuntime(),
    pods: [],
    hasPodList: false,
    versions: [],
    isVersionCut: false,
    notes: [],
    commandLine: [],
    refusals: [],
    paths: [],
    parts: new Map(),
  };
  for (const file of files) draft.files.push(await takeFile(file, draft));
  return draft;
}

async function takeFile(file: GivenFile, draft: Draft): Promise<TakenFile> {
  const { name, text, detectedAs, cut } = file;
  if (detectedAs !== undefined) return { name, detectedAs: [detectedAs] };
  const given: CollectedText = cut === undefined ? collectedText(text) : { text, extent: 'cut' };
  const special = takeCollected(given, draft);
  if (special !== undefined) return { name, detectedAs: [special] };
  const { documents, rest, unread } = documentsIn(given.text);
  const args = new Set<string>(given.extent === 'cut' && given.collected ? [CUT] : []);
  if (cut !== undefined) args.add(cut);
  for (const each of unread) args.add(each);
  for (const document of documents) {
    const kind = documentKind(document.value);
    if (!kind) continue;
    args.add(DOCUMENT_KINDS[kind]);
    await takeDocument(document, kind, name, draft);
  }
  for (const [kind, lines] of textKinds(rest)) {
    if (kind !== 'other') args.add(TEXT_KINDS[kind]);
    await takeText({ ...given, text: lines, whole: text, name }, kind, draft);
  }
  const refusals = quotedRefusals(text, name);
  draft.refusals.push(...refusals);
  if (refusals.length > 0) args.add('words of a runtime that could not mount a volume');
  return { name, detectedAs: [...args] };
}

const CUT = 'a part, for the collector could not read it to its end';

/** What only our collector writes, and how it is called. */
function takeCollected({ text, collected }: CollectedText, draft: Draft): string | undefined {
  const lines = text.split('\n').filter((line) => line !== '');
  switch (collected) {
    case 'notes.txt':
      draft.notes.push(...lines);
      return 'what our collector could not read';
    case 'kubelet-cmdline.txt':
      draft.commandLine.push(...lines);
      return 'the command line of the kubelet';
    case 'working-folder.txt':
      return "the kubelet's working directory, for a person to see: it was not judged";
    case 'uname -a':
      return 'which machine it is: it was not judged';
    default:
      return undefined;
  }
}

async function takeText(part: Part, kind: TextKind, draft: Draft): Promise<void> {
  const { text, name } = part;
  const parts = draft.parts.get(kind);
  if (parts) parts.push(part);
  else draft.parts.set(kind, [part]);
  switch (kind) {
    case 'mountinfo': {
      const table = givenTable(part);
      if (table) draft.tables.push(table);
      break;
    }
    case 'version':
      draft.versions.push(...(await versionsInText(text, name)));
      // The lines of a kind always end with a newline; the text that they come from may not.
      draft.isVersionCut ||=
        part.extent === 'cut' &&
        part.whole.trimStart().endsWith(text.trim().split('\n').at(-1) ?? '');
      break;
    case 'runtime-version':
      draft.runtime.name = /^RuntimeName:\s+(\S+)/m.exec(text)?.[1];
      draft.runtime.version = /^RuntimeVersion:\s+(\S+)/m.exec(text)?.[1];
      break;
    case 'metrics':
      draft.versions.push(...(await versionsInMetrics(text, name)));
      break;
    case 'log':
      draft.versions.push(...(await versionsInLog(text, name)));
      break;
    case 'listing':
      draft.paths.push(...listedPaths(text));
      break;
    default:
  }
}

async function takeDocument(
  { value, line, form }: Document,
  kind: DocumentKind,
  name: string,
  draft: Draft,
): Promise<void> {
  const origin = { file: name, line };
  switch (kind) {
    case 'pods':
      await takePods(value, origin, form, draft);
      break;
    case 'nodes':
      draft.versions.push(...(await versionsInNodes(value, origin)));
      break;
    case 'container-list':
      draft.runtime.addContainerList(listAt(value, 'containers') ?? [], form === 'json');
      break;
    case 'sandbox-list':
      draft.runtime.addSandboxList(listAt(value, 'items') ?? [], form === 'json');
      break;
    case 'container-status':
      for (const each of Array.isArray(value) ? value : [value]) draft.runtime.addStatus(each);
      break;
    case 'runtime-version':
      draft.runtime.name = textAt(value, 'runtimeName');
      draft.runtime.version = textAt(value, 'runtimeVersion');
      break;
    default:
  }
}

async function takePods(
  value: unknown,
  origin: Origin,
  form: Document['form'],
  draft: Draft,
): Promise<void> {
  const list = listAt(value, 'items');
  const items = (list ?? [value]).filter((item) => textAt(item, 'metadata', 'uid'));
  const read = async () => parsePods(JSON.stringify({ items }), origin);
  const parsed = await attempt(read());
  if (!parsed.known) return;
  draft.pods.push(...parsed.value);
  // In kubectl's YAML the kind of a list comes after its items: where it is, they all are.
  draft.hasPodList ||= list !== undefined && (form === 'json' || textAt(value, 'kind') === 'List');
  draft.podOrigin ??= origin;
  for (const item of items) draft.runtime.addPod(item);
}
