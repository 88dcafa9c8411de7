import { runProgram } from '../../lib/process/run.ts';
import type { OwnCommand } from '../reader/reader-process.ts';
import { NAMES_CACHED_MAX, SYMBOLS_ANSWER_BYTES_MAX, SYMBOLS_MS } from './limits.ts';
import type { SymbolAnswer, SymbolQuestion } from './symbol-reader.ts';

/** One function on the way from the program to the kernel. */
export interface StackFrame {
  /** As the program was loaded, in hexadecimal. */
  readonly address: string;
  readonly function: string | null;
  /** The file that holds it; null when the process was gone before it could be asked. */
  readonly module: string | null;
  /** The place in that file, in hexadecimal. */
  readonly offset: string | null;
}

/** Names the functions of stacks; what was named once is not looked up again. */
export class StackNamer {
  readonly #command: OwnCommand;
  readonly #hostRoot: string;
  readonly #names = new Map<string, string | null>();

  constructor(command: OwnCommand, hostRoot: string) {
    this.#command = command;
    this.#hostRoot = hostRoot === '/' ? '' : hostRoot;
  }

  /** `maps` is the content of /proc/<pid>/maps; undefined when the process was gone by then. */
  async name(
    pid: number,
    addresses: readonly number[],
    maps: string | undefined,
  ): Promise<readonly StackFrame[]> {
    const mappings = mappingsIn(maps ?? '');
    // An address of a stack is where the call returns to: the call itself stands before it. The
    // first one is where the kernel was called, and returns in the same way.
    const places = addresses.map((address) => placeIn(mappings, address - 1));
    const known = places.filter((place) => place !== undefined);
    await this.#lookUp(pid, known);
    return addresses.map((address, index) => {
      const place = places[index];
      return {
        address: `0x${address.toString(16)}`,
        function: place ? (this.#names.get(keyOf(place)) ?? null) : null,
        module: place?.mapping.file ?? null,
        offset: place ? `0x${(place.offset + 1).toString(16)}` : null,
      };
    });
  }

  async #lookUp(pid: number, places: readonly Place[]): Promise<void> {
    const unnamed = places.filter((place) => !this.#names.has(keyOf(place)));
    const questions = Map.groupBy(unnamed, ({ mapping }) => mapping);
    if (questions.size === 0) return;
    const asked = [...questions].map(
      ([{ range }, wanted]): SymbolQuestion => ({
        // Opens the very file that was mapped, also when it was deleted or lies in a container.
        file: `${this.#hostRoot}/proc/${pid}/map_files/${range}`,
        offsets: wanted.map(({ offset }) => offset),
      }),
    );
    const answer = await this.#ask(asked);
    if (this.#names.size > NAMES_CACHED_MAX) this.#names.clear();
    for (const [index, wanted] of [...questions.values()].entries()) {
      for (const [at, place] of wanted.entries()) {
        const name = answer?.[index]?.[at];
        // A process that was gone says nothing of its program; the next one may.
        if (name) this.#names.set(keyOf(place), name);
      }
    }
  }

  async #ask(questions: readonly SymbolQuestion[]): Promise<SymbolAnswer | undefined> {
    const result = await runProgram({
      ...this.#command,
      deadlineMs: SYMBOLS_MS,
      outputBytesMax: SYMBOLS_ANSWER_BYTES_MAX,
      input: JSON.stringify(questions),
    });
    if (result.ended !== 'exit' || result.code !== 0 || result.isCut) return undefined;
    return JSON.parse(result.stdout) as SymbolAnswer;
  }
}

interface Mapping {
  readonly start: number;
  readonly end: number;
  readonly offset: number;
  /** "55d0a000-55d0b000", as the kernel names the link to the file. */
  readonly range: string;
  /** Device and number of the file: the same program in two processes is looked up once. */
  readonly identity: string;
  readonly file: string;
}

interface Place {
  readonly mapping: Mapping;
  /** In the file. */
  readonly offset: number;
}

// 00400000-02a1c000 r-xp 00000000 fe:00 1835021                            /usr/bin/kubelet
const MAPPING = /^([0-9a-f]+)-([0-9a-f]+) ..x. ([0-9a-f]+) ([0-9a-f]+:[0-9a-f]+ \d+) +(\/.*)$/gm;

function mappingsIn(maps: string): readonly Mapping[] {
  return [...maps.matchAll(MAPPING)].map(
    ([, start = '', end = '', offset = '', identity = '', file = '']) => ({
      start: Number.parseInt(start, 16),
      end: Number.parseInt(end, 16),
      offset: Number.parseInt(offset, 16),
      range: `${trimmed(start)}-${trimmed(end)}`,
      identity,
      file,
    }),
  );
}

/** The table pads its numbers to eight digits; the links do not. */
function trimmed(hex: string): string {
  return Number.parseInt(hex, 16).toString(16);
}

function placeIn(mappings: readonly Mapping[], address: number): Place | undefined {
  const mapping = mappings.find(({ start, end }) => address >= start && address < end);
  return mapping && { mapping, offset: address - mapping.start + mapping.offset };
}

function keyOf({ mapping, offset }: Place): string {
  return `${mapping.identity} ${offset}`;
}
