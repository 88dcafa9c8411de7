import { FRAME_BYTES_MAX, FRAMES_MAX } from './limits.ts';
import type { PcLineTable } from './pc-line-table.ts';

/** The call stack of a thread, the innermost call first. */
export interface WalkedStack {
  readonly frames: readonly WalkedFrame[];
  /** Why the walk ended before the first function of the goroutine; absent if it was complete. */
  readonly brokenBy?: string;
}

export interface WalkedFrame {
  /** The name with its package. */
  readonly function: string;
  /** Bytes from the first instruction of the function to the return address. */
  readonly offset: number;
}

/** The outermost functions of a goroutine. */
const FIRST_OF_GOROUTINE: ReadonlySet<string> = new Set(['runtime.goexit', 'runtime.goexit.abi0']);

/** The outermost functions of a scheduler stack, which belongs to no goroutine. */
const FIRST_OF_SCHEDULER =
  /^(?:runtime\.(?:mcall|systemstack|mstart0?|rt0_go|asmcgocall|morestack|sigtramp|cgocallback)|_rt0_\w+)(?:\.abi0)?$/;

export interface Registers {
  readonly stackPointer: number;
  readonly programCounter: number;
}

/**
 * Walks from the innermost function outwards: each frame has a known size, and above it is the
 * return address. All addresses are linked addresses.
 */
export function walkStack(
  table: PcLineTable,
  { stackPointer, programCounter }: Registers,
  memory: {
    /** The load address minus the linked address. */
    readonly bias: number;
    /** The eight bytes at an address of the process; undefined if they are not readable. */
    readonly longAt: (address: number) => number | undefined;
  },
): WalkedStack {
  const frames: WalkedFrame[] = [];
  let [at, counter] = [stackPointer, programCounter];
  while (frames.length < FRAMES_MAX) {
    const found = table.functionAt(counter - memory.bias);
    if (!found) return { frames, brokenBy: 'a call that is not in the tables of Go' };
    frames.push({ function: found.name, offset: found.offset });
    if (FIRST_OF_GOROUTINE.has(found.name)) return { frames };
    if (FIRST_OF_SCHEDULER.test(found.name)) {
      return { frames, brokenBy: "a stack of Go's own scheduler" };
    }
    const size = found.frameBytes();
    if (size === undefined || size < 0 || size > FRAME_BYTES_MAX) {
      return { frames, brokenBy: `no size of the frame of ${found.name}` };
    }
    const next = memory.longAt(at + size);
    if (next === undefined) return { frames, brokenBy: 'memory that may not be read' };
    counter = next;
    at += size + 8;
  }
  return { frames, brokenBy: `more than ${FRAMES_MAX} calls` };
}
