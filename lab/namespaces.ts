import { setTimeout as sleep } from 'node:timers/promises';
import { startCompanion } from '../src/lib/process/companion.ts';
import { PLAIN_ENVIRONMENT, runProgram, systemProgram } from '../src/lib/process/run.ts';
import { COMMAND_MS, NODE_MS, OUTPUT_BYTES_MAX } from './limits.ts';
import { childOf } from './process-mark.ts';

export interface NamespacesOptions {
  readonly also: readonly ('net' | 'ipc' | 'uts')[];
  /** Shell lines that the first process starts with, and their arguments $1, $2, ... */
  readonly begin: { readonly lines: string; readonly words: readonly string[] };
  /** The file where the holder writes its /proc/<pid>/stat and the boot id before it unshares. */
  readonly record?: string;
}

export interface PrivateNamespaces {
  /** The PID of their first process on the machine. /proc/<pid>/mountinfo is their mount table. */
  readonly pid: number;
  /** The PID of the process that holds the namespaces, and exits with them. */
  readonly holder: number;
  /** Lets the namespaces survive the process that created them. */
  stay(): Promise<void>;
  /** Settles when their last process has exited. */
  readonly ended: Promise<unknown>;
}

/** Private namespaces could not be created. */
export class NamespacesError extends Error {
  override readonly name = 'NamespacesError';
  /** The standard error of their first process. */
  readonly output: string;

  constructor(output: string) {
    super(`no private namespaces: ${output}`);
    this.output = output;
  }
}

// The process that holds them writes the record before it creates them, so they can be found after
// the creator was killed.
const HOLDER = `
  record=$1; shift
  if [ -n "$record" ]; then
    cat /proc/$$/stat /proc/sys/kernel/random/boot_id >"$record.new" && mv "$record.new" "$record" || exit 1
  fi
  exec "$@"`;

// The first process inherits every orphan, so it has to reap: a waiting shell does. It waits until
// the pipe from the creator closes; after `stay` it waits forever.
const WAIT_FOR_MAKER = `
  exec 3<&0 </dev/null
  echo ready
  head -n 1 <&3 >/run/.maker-said & wait $!
  read -r word </run/.maker-said
  rm -f /run/.maker-said
  [ "$word" = stay ] || exit 0
  echo staying
  exec 3<&- >/dev/null 2>&1
  while :; do sleep 86400 & wait $!; done`;

/**
 * Creates private mount and PID namespaces with their own /proc, and other namespaces if asked.
 * Everything that is mounted or started in them ends with them, and they end with the process that
 * created them, unless it calls `stay`.
 */
export async function makePrivateNamespaces({
  also,
  begin,
  record = '',
}: NamespacesOptions): Promise<PrivateNamespaces> {
  const namespaces = ['--mount', '--pid', ...also.map((name) => `--${name}`)];
  // The exec shortens its command line.
  const lines = `${begin.lines}\nexec sh -c '${WAIT_FOR_MAKER}'`;
  const first = ['sh', '-c', lines, 'sh', ...begin.words];
  const unshare = ['unshare', ...namespaces, '--fork', '--kill-child', '--mount-proc'];
  const created = [...unshare, '--propagation', 'private', ...first];
  const holder = startHolder(['-c', HOLDER, 'sh', record, ...created]);
  await holder.word('ready');
  return {
    pid: await childOf(holder.pid),
    holder: holder.pid,
    ended: holder.ended,
    stay: async () => {
      holder.send('stay\n');
      await holder.word('staying');
      holder.leave();
    },
  };
}

/** Runs a program of the machine until it exits; rejects with its standard error. */
export async function runCommand([name = '', ...words]: readonly string[]): Promise<string> {
  const program = name.startsWith('/') ? name : systemProgram(name);
  if (program === undefined) throw new Error(`${name}: no such program on this machine`);
  const result = await runProgram({
    program,
    arguments: words,
    deadlineMs: COMMAND_MS,
    outputBytesMax: OUTPUT_BYTES_MAX,
    environment: { ...PLAIN_ENVIRONMENT, PATH: `/usr/local/bin:${PLAIN_ENVIRONMENT.PATH}` },
  });
  if (result.ended === 'not-started') throw new Error(result.why);
  if (result.ended === 'exit' && result.code === 0) return result.stdout;
  const how = result.ended === 'exit' ? `code ${result.code}` : result.ended;
  throw new Error(`${words.join(' ')} ended with ${how}: ${result.stderr.trim()}`);
}

function startHolder(words: readonly string[]) {
  const ended = Promise.withResolvers<string>();
  let said = '';
  let errors = '';
  let hear = () => {};
  const program = systemProgram('sh') ?? '/bin/sh';
  const holder = startCompanion(
    { program, arguments: words, environment: PLAIN_ENVIRONMENT },
    {
      onOutput: (chunk) => {
        said += chunk.toString();
        hear();
      },
      onErrorOutput: (chunk) => {
        errors = `${errors}${chunk.toString()}`.slice(0, OUTPUT_BYTES_MAX);
      },
      onEnd: ended.resolve,
    },
  );
  const heard = (word: string) =>
    new Promise<'heard'>((resolve) => {
      hear = () => {
        if (said.split('\n').includes(word)) resolve('heard');
      };
      hear();
    });
  return {
    pid: holder.pid,
    ended: ended.promise,
    send: (text: string) => holder.write(Buffer.from(text)),
    leave: () => holder.hold(false),
    word: async (word: string) => {
      const limit = new AbortController();
      const late = sleep(NODE_MS, 'late', { signal: limit.signal }).catch(() => 'late');
      const came = await Promise.race([heard(word), ended.promise.then(() => 'ended'), late]);
      limit.abort();
      if (came === 'heard') return;
      if (came === 'late') holder.abandon();
      const why = came === 'late' ? `timed out after ${NODE_MS / 1_000}s` : '';
      throw new NamespacesError([errors.trim(), why].filter(Boolean).join('; '));
    },
  };
}
