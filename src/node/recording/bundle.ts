import { gunzip, gzip } from '../../lib/std/gzip.ts';
import { fieldAt, textAt } from '../../lib/std/json.ts';
import { JSON_DEPTH_MAX } from '../../lib/std/limits.ts';
import { messageOf } from '../../lib/std/message-of.ts';
import { countJson, JsonLimitError } from '../../lib/std/parse-json.ts';
import { sha256 } from '../../lib/std/sha256.ts';
import { readTar, type TarEntry, writeTar } from '../../lib/std/tar.ts';
import { bytesOf, textOf } from '../../lib/std/text-codec.ts';
import { type Answer, isReadFailure, type QuestionKind, sourceOf } from '../model/node-reader.ts';
import { BundleError, NewerBundleError } from './bundle-error.ts';
import {
  BUNDLE_ANSWERS_MAX,
  BUNDLE_BYTES_MAX,
  BUNDLE_FILES_MAX,
  BUNDLE_VALUES_MAX,
  INLINE_CHARACTERS_MAX,
} from './limits.ts';
import { isAnswer, isQuestionKind, questionIn } from './recorded-line.ts';
import { keyOf, questionOf, type Recorded, type Recording } from './recording.ts';

/** Everything a check asked and was answered, with what is needed to judge it again elsewhere. */
export interface Bundle {
  readonly recording: Recording;
  /** The version of KubeDiag that recorded it. */
  readonly madeBy: string;
  readonly tookMs: number;
  /** The options of the check. */
  readonly settings: Readonly<Record<string, unknown>>;
}

/** The files of a bundle by name: the same in an archive and in a directory of fixtures. */
export type BundleFiles = ReadonlyMap<string, Uint8Array>;

const FORMAT = 1;

export async function filesOfBundle(bundle: Bundle): Promise<BundleFiles> {
  const files = new Map<string, Uint8Array>();
  const lines: string[] = [];
  for (const [key, recorded] of bundle.recording.answers) {
    lines.push(`${await lineOf(key, recorded, files)}\n`);
  }
  files.set('answers.jsonl', bytesOf(lines.join('')));
  files.set('manifest.json', await manifestOf(bundle, files));
  return files;
}

/** The list of contents, with a checksum of each file. */
export async function manifestOf(
  bundle: Omit<Bundle, 'recording'> & { readonly recording: Pick<Recording, 'clock'> },
  files: BundleFiles,
): Promise<Uint8Array> {
  const checksums: Record<string, string> = {};
  for (const [name, content] of [...files].toSorted(([left], [right]) => (left < right ? -1 : 1))) {
    if (name !== 'manifest.json') checksums[name] = await sha256(content);
  }
  const manifest = {
    format: FORMAT,
    madeBy: bundle.madeBy,
    clock: bundle.recording.clock.toISOString(),
    tookMs: bundle.tookMs,
    settings: bundle.settings,
    checksums,
  };
  return bytesOf(`${JSON.stringify(manifest, null, 2)}\n`);
}

export async function packBundle(files: BundleFiles): Promise<Uint8Array> {
  const entries: TarEntry[] = [...files]
    .map(([name, content]) => ({ name, content }))
    // The manifest first: `tar -t` shows at once what the archive is.
    .toSorted((left, right) => rank(left.name) - rank(right.name));
  const archive = writeTar(entries);
  if (archive.length > BUNDLE_BYTES_MAX) {
    throw new BundleError(`the bundle would have more than ${BUNDLE_BYTES_MAX} bytes`);
  }
  return gzip(archive);
}

function rank(name: string): number {
  return ['manifest.json', 'answers.jsonl'].indexOf(name) + 1 || 3;
}

export async function unpackBundle(packed: Uint8Array): Promise<BundleFiles> {
  const entries = readTar(await unpacked(packed));
  if (!entries) throw new BundleError('not a valid tar archive');
  if (entries.length > BUNDLE_FILES_MAX) {
    throw new BundleError(`more than ${BUNDLE_FILES_MAX} files`);
  }
  return new Map(entries.map(({ name, content }) => [name.replace(/^\.\//, ''), content]));
}

async function unpacked(packed: Uint8Array): Promise<Uint8Array> {
  try {
    return await gunzip(packed, BUNDLE_BYTES_MAX);
  } catch (cause) {
    throw new BundleError(`gzip: ${messageOf(cause) || 'malformed data'}`, { cause });
  }
}

/** Reads a bundle from an untrusted source: every file must have its checksum in the manifest. */
export async function bundleOfFiles(files: BundleFiles): Promise<Bundle> {
  const manifestText = textOf(fileOf(files, 'manifest.json'));
  const { value: manifest } = json(manifestText, 'manifest.json', BUNDLE_VALUES_MAX);
  const format = fieldAt(manifest, 'format');
  if (typeof format === 'number' && format > FORMAT) {
    const madeBy = textAt(manifest, 'madeBy') ?? 'unknown';
    throw new NewerBundleError(`its format is ${format}, and this version reads ${FORMAT}`, madeBy);
  }
  if (format !== FORMAT) throw new BundleError(`its format is ${String(format)}, not ${FORMAT}`);
  for (const [name, content] of files) {
    if (name === 'manifest.json') continue;
    if (textAt(manifest, 'checksums', name) !== (await sha256(content))) {
      throw new BundleError(`${name} was changed since it was recorded`);
    }
  }
  const clock = new Date(textAt(manifest, 'clock') ?? '');
  if (Number.isNaN(clock.getTime())) throw new BundleError('manifest.json: invalid clock');
  const answers = answersIn(textOf(fileOf(files, 'answers.jsonl')), files);
  const settings = fieldAt(manifest, 'settings');
  const tookMs = fieldAt(manifest, 'tookMs') ?? 0;
  if (typeof tookMs !== 'number' || tookMs < 0) {
    throw new BundleError('manifest.json: invalid tookMs');
  }
  return {
    recording: { clock, answers },
    madeBy: textAt(manifest, 'madeBy') ?? 'unknown',
    tookMs,
    settings: typeof settings === 'object' && settings !== null ? { ...settings } : {},
  };
}

async function lineOf(
  key: string,
  recorded: Recorded,
  files: Map<string, Uint8Array>,
): Promise<string> {
  const { kind, question } = questionOf(key);
  if ('failure' in recorded) return JSON.stringify({ kind, question, ...recorded });
  const { answer } = recorded;
  if (typeof answer === 'string') {
    return JSON.stringify({ kind, question, ...(await stored(answer, files)) });
  }
  if (kind === 'kubelet') {
    const { status, body } = answer as Answer<'kubelet'>;
    return JSON.stringify({ kind, question, status, ...(await stored(body, files)) });
  }
  return JSON.stringify({ kind, question, value: answer });
}

/** Short texts stay in the line, where a person can read them; long ones get a file. */
async function stored(
  text: string,
  files: Map<string, Uint8Array>,
): Promise<{ text: string } | { blob: string }> {
  if (text.length <= INLINE_CHARACTERS_MAX) return { text };
  const content = bytesOf(text);
  const blob = await sha256(content);
  files.set(`blobs/${blob}`, content);
  return { blob };
}

/** Line by line, within what all of them together may hold. */
function answersIn(text: string, files: BundleFiles): ReadonlyMap<string, Recorded> {
  const answers = new Map<string, Recorded>();
  let valuesLeft = BUNDLE_VALUES_MAX;
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf('\n', start);
    const line = text.slice(start, end < 0 ? text.length : end);
    if (line !== '') valuesLeft -= readLine(line, valuesLeft, files, answers);
    if (answers.size > BUNDLE_ANSWERS_MAX) {
      throw new BundleError(`more than ${BUNDLE_ANSWERS_MAX} answers`);
    }
    start += line.length + 1;
  }
  return answers;
}

/** Gives the number of values in the line. */
function readLine(
  text: string,
  valuesLeft: number,
  files: BundleFiles,
  answers: Map<string, Recorded>,
): number {
  const { value: line, count } = json(text, 'answers.jsonl', valuesLeft);
  const kind = fieldAt(line, 'kind');
  const question = isQuestionKind(kind) ? questionIn(kind, fieldAt(line, 'question')) : undefined;
  if (!isQuestionKind(kind) || !question) {
    throw new BundleError('answers.jsonl: a line is not an answer');
  }
  const recorded = recordedIn(kind, line, files);
  if (!recorded) throw new BundleError(`answers.jsonl: invalid answer to ${sourceOf(question)}`);
  answers.set(keyOf(kind, question), recorded);
  return count;
}

/**
 * Older recordings have `timeout` where we gave up; that would now be a path or a service that hangs.
 * This is the only place that reads an old text of ours.
 */
const GAVE_UP: readonly RegExp[] = [
  // not asked, because 4 readers already wait on dead paths
  /^not asked, because \d+ readers already wait on dead paths$/,
  // the time limit of 8 s (--timeout) was reached
  // the time limit of the step, 30 s, was reached
  /^the time limit\b.* was reached$/,
  /^you asked to stop$/,
  /^somebody pressed Ctrl-C$/,
];

function recordedIn(kind: QuestionKind, line: unknown, files: BundleFiles): Recorded | undefined {
  const [failure, detail] = [fieldAt(line, 'failure'), fieldAt(line, 'detail')];
  if (failure !== undefined) {
    if (!isReadFailure(failure)) return undefined;
    if (detail === undefined) return { failure };
    if (typeof detail !== 'string') return undefined;
    const isOurs = failure === 'timeout' && GAVE_UP.some((pattern) => pattern.test(detail));
    return { failure: isOurs ? 'not-asked' : failure, detail };
  }
  const blob = textAt(line, 'blob');
  const text = blob ? textOf(fileOf(files, `blobs/${blob}`)) : textAt(line, 'text');
  const answer =
    kind === 'kubelet'
      ? { status: fieldAt(line, 'status'), body: text }
      : (text ?? fieldAt(line, 'value'));
  return isAnswer(kind, answer) ? { answer } : undefined;
}

function fileOf(files: BundleFiles, name: string): Uint8Array {
  const content = files.get(name);
  if (!content) throw new BundleError(`${name} is missing`);
  return content;
}

function json(
  text: string,
  name: string,
  valuesMax: number,
): { readonly value: unknown; readonly count: number } {
  try {
    const count = countJson(text, { depthMax: JSON_DEPTH_MAX, valuesMax });
    return { value: JSON.parse(text), count };
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    const isLimit = cause instanceof JsonLimitError;
    throw new BundleError(isLimit ? `${name}: ${cause.message}` : `${name} is not JSON`, { cause });
  }
}
