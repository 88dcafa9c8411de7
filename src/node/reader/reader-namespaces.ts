import { readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { basename } from 'node:path';
import { packagedProgram } from '../../lib/process/run.ts';
import { unescapeOctal } from '../../lib/std/unescape-octal.ts';
import { orCode } from './read-file.ts';
import type { OwnCommand } from './reader-process.ts';

/** Namespaces without which a reader would see the pod's loopback, sysctls and host name. */
const KINDS = ['net', 'uts'] as const;

/**
 * With cgroup v2 a pod has its own, and the kernel writes the cgroup of another pod as "/../../pod5e0c...",
 * without the word by which we know pods. nsenter of BusyBox cannot enter it.
 */
const ALL_KINDS = [...KINDS, 'cgroup'] as const;

/**
 * The command of a reader, in the network, UTS and cgroup namespaces of the node at this root. From a pod
 * without hostNetwork a reader then reaches the kubelet on the node's loopback, and /proc/sys/net
 * shows the node. Unchanged if they are ours, or if we may not enter them.
 */
export function inNodeNamespaces(command: OwnCommand, hostRoot: string): OwnCommand {
  if (hostRoot === '/' || !hasProc(hostRoot) || !maySetNamespace()) return command;
  const nsenter = packagedProgram('nsenter');
  if (!nsenter.ok) return command;
  const folder = `${hostRoot}/proc/1/ns`;
  const kinds = basename(realpathSync(nsenter.value)) === 'busybox' ? KINDS : ALL_KINDS;
  const foreign = kinds.filter((kind) => {
    const [node, own] = [`${folder}/${kind}`, `/proc/self/ns/${kind}`].map(
      (path) => orCode(() => readlinkSync(path)).value,
    );
    return node !== undefined && node !== own;
  });
  if (foreign.length === 0) return command;
  const options = foreign.map((kind) => `--${kind}=${folder}/${kind}`);
  // In nsenter, /proc/self is nsenter.
  const program = command.program.replace(/^\/proc\/self\//, `/proc/${process.pid}/`);
  return { program: nsenter.value, arguments: [...options, '--', program, ...command.arguments] };
}

/**
 * Whether the root has a /proc of the kernel, by our own mount table: the main process must not
 * touch a root that may hang.
 */
function hasProc(hostRoot: string): boolean {
  // 512 498 0:22 / /host/proc rw,nosuid shared:13 - proc proc rw
  const target = ` ${hostRoot}/proc `;
  return readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .some((line) => line.includes(' - proc ') && unescapeOctal(line).includes(target));
}

const CAP_SYS_ADMIN = 21n;

function maySetNamespace(): boolean {
  // CapEff:	00000000a82425fb
  const set = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
  return set !== undefined && ((BigInt(`0x${set}`) >> CAP_SYS_ADMIN) & 1n) === 1n;
}
