import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { messageOf } from '../std/message-of.ts';
import { plainFunction } from './function-name.ts';
import { PROFILE_ENTRIES_MAX, PROFILE_STACK_MAX } from './limits.ts';
import { textOfBytes } from './utf8.ts';

/** A profile with its main measure: for a CPU profile, CPU time. */
export interface Profile {
  /** "cpu" */
  readonly measure: string;
  /** "nanoseconds" */
  readonly unit: string;
  /** The length of the measurement; 0 if unknown. */
  readonly durationMs: number;
  readonly time: Date | null;
  readonly total: number;
  readonly samples: readonly ProfileSample[];
}

export interface ProfileSample {
  readonly value: number;
  /** Names of functions, the innermost call first. */
  readonly stack: readonly string[];
}

export class ProfileError extends Error {
  override readonly name = 'ProfileError';
}

/**
 * Parses an uncompressed profile of pprof's profile.proto. It reads only the parts for a list of
 * functions and a flame graph: samples, and the functions of their locations.
 *
 * @throws ProfileError if the bytes are no profile, or a larger one than any program of a node has.
 */
export function parseProfile(bytes: Uint8Array): Profile {
  const raw = readProfile(bytes);
  const text = (index: number): string => raw.strings[index] ?? '';
  const types = raw.types.map(([type, unit]) => [text(type), text(unit)] as const);
  // The last value is the CPU time of a CPU profile, and the memory in use of a heap profile.
  const column = Math.max(0, types.length - 1);
  const [measure, unit] = types[column] ?? [];
  if (measure === undefined || unit === undefined) {
    throw new ProfileError('it names nothing that it measures');
  }
  const names = new Map(raw.functions.map(([id, name]) => [id, plainFunction(text(name))]));
  const calls = new Map(
    raw.locations.map(({ id, functions, address }) => [
      id,
      functions.length > 0
        ? functions.map((each) => names.get(each) ?? 'unknown')
        : [`0x${address.toString(16)}`],
    ]),
  );
  const samples = raw.samples.map(({ locations, values }) => ({
    value: values[column] ?? 0,
    stack: locations.flatMap((id) => calls.get(id) ?? ['unknown']).slice(0, PROFILE_STACK_MAX),
  }));
  return {
    measure,
    unit,
    durationMs: raw.durationNanoseconds / 1e6,
    time: raw.timeNanoseconds > 0 ? new Date(raw.timeNanoseconds / 1e6) : null,
    total: samples.reduce((sum, { value }) => sum + value, 0),
    samples,
  };
}

type RawProfile = ReturnType<typeof emptyProfile>;

function emptyProfile() {
  return {
    types: [] as (readonly [number, number])[],
    samples: [] as ReturnType<typeof sampleOf>[],
    locations: [] as ReturnType<typeof locationOf>[],
    functions: [] as (readonly [number, number])[],
    strings: [] as string[],
    timeNanoseconds: 0,
    durationNanoseconds: 0,
  };
}

/** The fields of the message Profile that are read, by field number. */
const FIELDS: Readonly<Record<number, (raw: RawProfile, value: Value) => void>> = {
  1: ({ types }, value) => types.push(firstTwo(bytesIn(value))),
  2: ({ samples }, value) => samples.push(sampleOf(bytesIn(value))),
  4: ({ locations }, value) => locations.push(locationOf(bytesIn(value))),
  5: ({ functions }, value) => functions.push(firstTwo(bytesIn(value))),
  6: ({ strings }, value) => strings.push(textOfBytes(bytesIn(value))),
  9: (raw, value) => {
    raw.timeNanoseconds = numberIn(value);
  },
  10: (raw, value) => {
    raw.durationNanoseconds = numberIn(value);
  },
};

function readProfile(bytes: Uint8Array): RawProfile {
  try {
    return rawProfile(bytes);
  } catch (error) {
    // The library throws plain errors: "premature EOF", "illegal tag: ...".
    throw error instanceof ProfileError
      ? error
      : new ProfileError(messageOf(error), { cause: error });
  }
}

function rawProfile(bytes: Uint8Array): RawProfile {
  const raw = emptyProfile();
  let entries = 0;
  eachField(bytes, (field, value) => {
    entries += 1;
    if (entries > PROFILE_ENTRIES_MAX) fail(`more than ${PROFILE_ENTRIES_MAX} entries`);
    FIELDS[field]?.(raw, value);
  });
  if (entries === 0 || raw.strings.length === 0) fail('it is empty');
  return raw;
}

function firstTwo(bytes: Uint8Array): readonly [number, number] {
  let [one, two] = [0, 0];
  eachField(bytes, (field, value) => {
    if (field === 1) one = numberIn(value);
    if (field === 2) two = numberIn(value);
  });
  return [one, two];
}

function sampleOf(bytes: Uint8Array) {
  const [locations, values]: [number[], number[]] = [[], []];
  eachField(bytes, (field, value) => {
    if (field === 1) locations.push(...numbersIn(value));
    if (field === 2) values.push(...numbersIn(value));
  });
  return { locations, values };
}

function locationOf(bytes: Uint8Array) {
  let [id, address] = [0, 0];
  const functions: number[] = [];
  eachField(bytes, (field, value) => {
    if (field === 1) id = numberIn(value);
    if (field === 3) address = numberIn(value);
    // The lines of one location are functions that the compiler inlined, innermost first.
    if (field === 4) functions.push(firstTwo(bytesIn(value))[0]);
  });
  return { id, address, functions };
}

/** A number, or the bytes of a string, a message or packed numbers; undefined for other types. */
type Value = number | Uint8Array | undefined;

function eachField(bytes: Uint8Array, take: (field: number, value: Value) => void): void {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (type === WireType.Varint) take(field, nextNumber(reader));
    else if (type === WireType.LengthDelimited) take(field, reader.bytes());
    else reader.skip(type, field);
  }
}

/** Most numbers are short, so this avoids a bigint for each. */
function nextNumber(reader: BinaryReader): number {
  const start = reader.pos;
  const short = reader.uint32();
  if (reader.pos - start < 5) return short;
  reader.pos = start;
  // A number beyond 2^53 loses its last digits, which do not matter here.
  return Number(reader.int64());
}

function numberIn(value: Value): number {
  return typeof value === 'number' ? value : fail('a number was expected');
}

function bytesIn(value: Value): Uint8Array {
  return typeof value === 'object' ? value : fail('a text or a message was expected');
}

/** The values of a repeated number: a single one, or all of a packed field. */
function numbersIn(value: Value): readonly number[] {
  if (typeof value === 'number') return [value];
  const reader = new BinaryReader(bytesIn(value));
  const numbers: number[] = [];
  while (reader.pos < reader.len) numbers.push(nextNumber(reader));
  return numbers;
}

function fail(why: string): never {
  throw new ProfileError(why);
}

export interface ProfileFunction {
  readonly function: string;
  /** The value of the function itself. */
  readonly flat: number;
  /** The value of the function and all functions that it called. */
  readonly cumulative: number;
}

/** Every function of a profile, by descending flat value. */
export function functionsOf({ samples }: Profile): readonly ProfileFunction[] {
  const spent = new Map<string, { flat: number; cumulative: number }>();
  for (const { value, stack } of samples) {
    // A recursive function is counted once.
    for (const name of new Set(stack)) {
      const known = spent.get(name) ?? { flat: 0, cumulative: 0 };
      known.cumulative += value;
      if (name === stack[0]) known.flat += value;
      spent.set(name, known);
    }
  }
  return [...spent]
    .map(([name, { flat, cumulative }]) => ({ function: name, flat, cumulative }))
    .toSorted((left, right) => right.flat - left.flat || right.cumulative - left.cumulative);
}

/** A node of the flame graph: a call with its value and its callees. */
export interface Flame {
  readonly name: string;
  readonly value: number;
  readonly children: readonly Flame[];
}

interface Growing {
  readonly name: string;
  value: number;
  readonly children: Map<string, Growing>;
}

/** Calls with a smaller share of the total would not be visible, and are left out. */
const SHARE_SHOWN_MIN = 0.0005;

export function flameOf({ samples, total }: Profile, name: string): Flame {
  const root: Growing = { name, value: 0, children: new Map() };
  for (const { value, stack } of samples) {
    let at = root;
    root.value += value;
    for (const call of stack.toReversed()) {
      const next = at.children.get(call) ?? { name: call, value: 0, children: new Map() };
      at.children.set(call, next);
      next.value += value;
      at = next;
    }
  }
  return frozen(root, total * SHARE_SHOWN_MIN);
}

function frozen({ name, value, children }: Growing, least: number): Flame {
  const shown = [...children.values()]
    .filter((child) => child.value >= least && child.value > 0)
    .toSorted((left, right) => (left.name < right.name ? -1 : 1));
  return { name, value, children: shown.map((child) => frozen(child, least)) };
}
