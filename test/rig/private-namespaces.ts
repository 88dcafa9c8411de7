import { readFile, readlink } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type PrivateNamespaces as HeldNamespaces,
  makePrivateNamespaces as holdNamespaces,
  type NamespacesOptions,
  runCommand,
} from '../../lab/namespaces.ts';
import { allProcesses, isRunning, killIfThere, namedProcesses } from '../../lab/process-mark.ts';

const END_MS = 20_000;
const CHECK_INTERVAL_MS = 20;

/**
 * Private namespaces of the lab, by default with an empty /run. Their creator stays outside: it prefixes a
 * command with `enter`, and shares files by path.
 */
export interface PrivateNamespaces extends HeldNamespaces {
  /** The arguments before a command to run it inside. */
  readonly enter: readonly string[];
  /** Runs a command inside and returns its standard output; rejects with its standard error. */
  run(program: string, ...words: readonly string[]): Promise<string>;
  stop(): Promise<void>;
}

const EMPTY_RUN = { lines: 'mount -t tmpfs -o mode=755 tmpfs /run || exit 1', words: [] };

export async function makePrivateNamespaces({
  also = [],
  begin = EMPTY_RUN,
}: Partial<NamespacesOptions> = {}): Promise<PrivateNamespaces> {
  const held = await holdNamespaces({ also, begin });
  const { pid, holder } = held;
  const kinds = ['mount', 'pid', ...also].map((name) => `--${name}`);
  const enter = ['nsenter', '--target', String(pid), ...kinds, '--'];
  return {
    ...held,
    enter,
    run: (...words) => runCommand([...enter, ...words]),
    stop: async () => {
      if (!isRunning(holder)) return;
      await endNamespaces(pid);
      // The holder has nothing left to wait for.
      killIfThere(holder);
      await held.ended;
    },
  };
}

/**
 * Kills the first process of namespaces and waits until all their processes have ended. The kernel
 * kills them with the first one, but each must be reaped too, also those that entered by `nsenter`: it
 * stops itself together with its child, and then reaps nothing.
 */
export async function endNamespaces(first: number, limitMs = END_MS): Promise<void> {
  const namespace = await pidNamespaceOf(first);
  killIfThere(first);
  const deadline = Date.now() + limitMs;
  for (;;) {
    await sleep(CHECK_INTERVAL_MS);
    const entering = await enteringInto((target) => target === first);
    if (entering.length === 0 && !isRunning(first)) return;
    if (Date.now() > deadline) {
      const left = [...entering.map(({ pid }) => pid), ...(await membersOf(namespace))];
      throw new Error(await whyNotEnded(first, left));
    }
    for (const { pid } of entering) killIfThere(pid);
  }
}

/** The running programs that entered namespaces of the wanted first process, with that process. */
export async function enteringInto(
  isWanted: (target: number, commandLine: string) => boolean,
): Promise<readonly { readonly pid: number; readonly target: number }[]> {
  const found = await Promise.all(
    allProcesses().map(async (pid) => {
      // A zombie has no command line.
      const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
      const [program = '', option, target] = commandLine.split('\0');
      if (!/(^|\/)nsenter$/.test(program) || option !== '--target') return [];
      return isWanted(Number(target), commandLine) ? [{ pid, target: Number(target) }] : [];
    }),
  );
  return found.flat();
}

async function pidNamespaceOf(pid: number): Promise<string | undefined> {
  return readlink(`/proc/${pid}/ns/pid`).catch(() => undefined);
}

async function membersOf(namespace: string | undefined): Promise<readonly number[]> {
  if (namespace === undefined) return [];
  const pids = allProcesses();
  const theirs = await Promise.all(pids.map(pidNamespaceOf));
  return pids.filter((_, index) => theirs[index] === namespace);
}

/** The first process only waits for the others, which are the problem. */
async function whyNotEnded(first: number, others: readonly number[]): Promise<string> {
  const culprits = others.filter((pid) => pid !== first && isRunning(pid));
  const named = await namedProcesses(culprits.length > 0 ? culprits : [first]);
  return (
    `processes do not end: ${named}. They were killed, but wait in the kernel, perhaps for a mount ` +
    'whose server does not answer: end that server, then try again'
  );
}
