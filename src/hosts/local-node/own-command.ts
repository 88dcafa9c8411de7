import { isSea } from 'node:sea';
import type { OwnCommand } from '../../node/reader/reader-process.ts';

/** This very program, by the kernel's own link to it: its file may be gone or replaced by now. */
export function ownCommand(word: 'reader' | 'remover' | 'symbols' | 'tracer'): OwnCommand {
  const script = isSea() ? [] : [process.argv[1] ?? ''];
  return { program: '/proc/self/exe', arguments: [...script, word] };
}
