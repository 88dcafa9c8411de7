import { randomBytes } from 'node:crypto';
import { type Companion, startCompanion } from '../../lib/process/companion.ts';
import { PLAIN_ENVIRONMENT, systemProgram } from '../../lib/process/run.ts';
import { textOf } from '../../lib/std/text-codec.ts';
import type { QuickAnswer, QuickQuestion, QuickReader } from '../model/quick-reader.ts';
import { QUICK_BYTES_MAX, QUICK_FILE_LINES_MAX, QUICK_MS, QUICK_REST_MS } from './limits.ts';
import { inNodeNamespaces } from './reader-namespaces.ts';

/**
 * Each request is a kind and its arguments, a line each; each answer ends with a line of its own. Only
 * builtin commands, so that an answer starts no process; the end of a log is read by one. The shell
 * reads the directories of a pattern, but touches none of the names that match its last part. It
 * ends when its input does.
 */
const SCRIPT = `
IFS=
while read -r kind; do
  case $kind in
    names)
      read -r folder; read -r pattern
      printf '%s\\n' "$folder"/$pattern ;;
    file)
      read -r path
      left=${QUICK_FILE_LINES_MAX}
      while [ "$left" -gt 0 ] && { read -r line || [ -n "$line" ]; }; do
        printf '%s\\n' "$line"; left=$((left - 1))
      done < "$path" ;;
    log)
      read -r path; read -r bytes
      tail -c "$bytes" "$path" ;;
  esac
  read -r end
  printf '\\n%s\\n' "$end"
done
`;

/**
 * A shell that reads paths of the node and answers within a moment. One that hangs is killed or
 * abandoned, and the next one is started only when it is gone: a path that hangs costs one process.
 */
export class LiveQuickReader implements QuickReader {
  readonly #root: string;
  #shell: Companion | undefined;
  /** The last one that was abandoned, and that may wait in the kernel. */
  #hung: Companion | undefined;
  #received: Buffer[] = [];
  #receivedBytes = 0;
  #end = '';
  #settle: ((text: string | undefined) => void) | undefined;
  #asked = 0;
  /** Of the line after each answer: who writes a log that is read cannot know it. */
  readonly #ends = randomBytes(8).toString('hex');
  #restUntilMs = 0;
  #isClosed = false;

  constructor(hostRoot: string) {
    this.#root = hostRoot;
  }

  async ask({ names, files, logs }: QuickQuestion): Promise<QuickAnswer | undefined> {
    const root = this.#root === '/' ? '' : this.#root;
    const requests = [
      ...names.map(({ folder, pattern }) => ['names', `${root}${folder}`, pattern]),
      ...files.map((path) => ['file', `${root}${path}`]),
      ...logs.map(({ path, lastBytes }) => ['log', `${root}${path}`, String(lastBytes)]),
    ];
    if (requests.flat().some((line) => line.includes('\n'))) return undefined;
    this.#asked += 1;
    const ends = requests.map((_, index) => `${this.#ends}.${this.#asked}.${index}`);
    const lines = requests.flatMap((request, index) => [...request, ends[index] ?? '']);
    const text = lines.length === 0 ? '' : await this.#answerTo(lines, ends.at(-1) ?? '');
    const texts = text === undefined ? undefined : partsOf(text, ends);
    if (!texts) return undefined;
    const filesAt = names.length;
    const logsAt = filesAt + files.length;
    return {
      names: texts.slice(0, filesAt),
      files: texts.slice(filesAt, logsAt),
      logs: texts.slice(logsAt),
    };
  }

  close(): void {
    this.#isClosed = true;
    this.#abandon();
  }

  async #answerTo(lines: readonly string[], end: string): Promise<string | undefined> {
    const isResting = performance.now() < this.#restUntilMs || this.#hung?.isGone() === false;
    if (this.#isClosed || isResting || this.#settle) return undefined;
    this.#shell ??= this.#started();
    this.#end = end;
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    const timer = setTimeout(() => this.#abandon(), QUICK_MS);
    this.#settle = (text) => {
      clearTimeout(timer);
      this.#settle = undefined;
      this.#received = [];
      this.#receivedBytes = 0;
      resolve(text);
    };
    this.#shell.write(Buffer.from(`${lines.join('\n')}\n`));
    return promise;
  }

  #started(): Companion {
    const sh = systemProgram('sh') ?? '/bin/sh';
    const command = inNodeNamespaces({ program: sh, arguments: ['-c', SCRIPT] }, this.#root);
    const shell = startCompanion(
      { ...command, environment: PLAIN_ENVIRONMENT },
      {
        onOutput: (chunk) => this.#hear(shell, chunk),
        onEnd: () => this.#lose(shell),
      },
    );
    // It must not keep us alive.
    shell.hold(false);
    return shell;
  }

  #hear(shell: Companion, chunk: Buffer): void {
    if (shell !== this.#shell || !this.#settle) return;
    this.#received.push(chunk);
    this.#receivedBytes += chunk.length;
    if (this.#receivedBytes > QUICK_BYTES_MAX) {
      this.#abandon();
      return;
    }
    // Most answers are one chunk, so this joins little.
    const text = textOf(Buffer.concat(this.#received));
    if (text.endsWith(`\n${this.#end}\n`)) this.#settle(text);
  }

  #lose(shell: Companion): void {
    if (shell !== this.#shell) return;
    this.#shell = undefined;
    this.#restUntilMs = performance.now() + QUICK_REST_MS;
    this.#settle?.(undefined);
  }

  #abandon(): void {
    const shell = this.#shell;
    this.#shell = undefined;
    this.#restUntilMs = performance.now() + QUICK_REST_MS;
    this.#settle?.(undefined);
    if (!shell) return;
    this.#hung = shell;
    shell.abandon();
  }
}

/** The text before each end; undefined if the ends are not where they should be. */
function partsOf(text: string, ends: readonly string[]): readonly string[] | undefined {
  const parts: string[] = [];
  let from = 0;
  for (const end of ends) {
    const at = text.indexOf(`\n${end}\n`, from);
    if (at < 0) return undefined;
    parts.push(text.slice(from, at));
    from = at + end.length + 2;
  }
  return parts;
}
