import { plainFunction } from './function-name.ts';
import { PROFILE_ENTRIES_MAX, PROFILE_STACK_MAX } from './limits.ts';
import { Message } from './protobuf.ts';

/** What a profile measured, in the unit that matters most to people: for a CPU profile, CPU time. */
export interface Profile {
  /** "cpu" */
  readonly measure: string;
  /** "nanoseconds" */
  readonly unit: string;
  /** How long was measured; 0 when it is not told. */
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
 * A profile in the form of pprof's profile.proto, unpacked. Only what a list of functions and a
 * flame graph need is read: samples, and the functions that their locations stand for.
 *
 * @throws ProfileError when it is none, or larger than any profile of a node's program.
 */
export function parseProfile(bytes: Uint8Array): Profile {
  const raw = rawProfile(bytes);
  const text = (index: number): string => raw.strings[index] ?? '';
  const types = raw.types.map(([type, unit]) => [text(type), text(unit)] as const);
  // A CPU profile counts samples first, and time last; others keep what is in use last.
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

interface RawProfile {
  readonly types: (readonly [number, number])[];
  readonly samples: { readonly locations: readonly number[]; readonly values: readonly number[] }[];
  readonly locations: {
    readonly id: number;
    readonly address: number;
    readonly functions: readonly number[];
  }[];
  readonly functions: (readonly [number, number])[];
  readonly strings: string[];
  timeNanoseconds: number;
  durationNanoseconds: number;
}

/** The fields of the message Profile that we read. */
const FIELD = { type: 1, sample: 2, location: 4, function: 5, string: 6, time: 9, duration: 10 };

function rawProfile(bytes: Uint8Array): RawProfile {
  const raw: RawProfile = {
    types: [],
    samples: [],
    locations: [],
    functions: [],
    strings: [],
    timeNanoseconds: 0,
    durationNanoseconds: 0,
  };
  let entries = 0;
  const message = new Message(bytes, fail);
  while (message.next()) {
    entries += 1;
    if (entries > PROFILE_ENTRIES_MAX) fail(`more than ${PROFILE_ENTRIES_MAX} entries`);
    takeField(message, raw);
  }
  if (entries === 0 || raw.strings.length === 0) fail('it is empty');
  return raw;
}

function takeField(message: Message, raw: RawProfile): void {
  switch (message.field) {
    case FIELD.type:
      raw.types.push(twoNumbers(message.message(), 1, 2));
      break;
    case FIELD.sample:
      raw.samples.push(sampleOf(message.message()));
      break;
    case FIELD.location:
      raw.locations.push(locationOf(message.message()));
      break;
    case FIELD.function:
      raw.functions.push(twoNumbers(message.message(), 1, 2));
      break;
    case FIELD.string:
      raw.strings.push(message.text());
      break;
    case FIELD.time:
      raw.timeNanoseconds = message.number();
      break;
    case FIELD.duration:
      raw.durationNanoseconds = message.number();
      break;
    default:
      break;
  }
}

function twoNumbers(message: Message, first: number, second: number): readonly [number, number] {
  let [one, two] = [0, 0];
  while (message.next()) {
    if (message.field === first) one = message.number();
    if (message.field === second) two = message.number();
  }
  return [one, two];
}

function sampleOf(message: Message) {
  const [locations, values]: [number[], number[]] = [[], []];
  while (message.next()) {
    if (message.field === 1) locations.push(...message.numbers());
    if (message.field === 2) values.push(...message.numbers());
  }
  return { locations, values };
}

function locationOf(message: Message) {
  let [id, address] = [0, 0];
  const functions: number[] = [];
  while (message.next()) {
    if (message.field === 1) id = message.number();
    if (message.field === 3) address = message.number();
    // The lines of one location are functions that the compiler put into one another, innermost first.
    if (message.field === 4) functions.push(twoNumbers(message.message(), 1, 2)[0]);
  }
  return { id, address, functions };
}

function fail(why: string): never {
  throw new ProfileError(why);
}
