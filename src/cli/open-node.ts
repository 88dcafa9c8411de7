import { isSea } from 'node:sea';
import { LiveNode } from '../node/live-node.ts';
import type { ReaderCommand } from '../node/reader-process.ts';
import { absolute, type NodeOptions } from './options.ts';

/** The node we are on, or the one whose root is at `--host-root`. */
export function openNode(options: NodeOptions): LiveNode {
  const hostRoot = absolute('--host-root', options.hostRoot);
  return new LiveNode(ownCommand('reader'), {
    hostRoot: hostRoot === '/' ? '/' : hostRoot.replace(/\/+$/, ''),
    kubeletTokenFile: options.kubeletTokenFile,
    kubeletCertificateFile: options.kubeletCert,
    kubeletKeyFile: options.kubeletKey,
  });
}

/** This very program, by the kernel's own link to it: its file may be gone or replaced by now. */
export function ownCommand(word: 'reader' | 'remover' | 'symbols' | 'tracer'): ReaderCommand {
  const script = isSea() ? [] : [process.argv[1] ?? ''];
  return { program: '/proc/self/exe', arguments: [...script, word] };
}
