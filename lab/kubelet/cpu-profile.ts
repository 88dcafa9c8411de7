import { type Profiler, Session } from 'node:inspector/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { PROFILE_INTERVAL_US, PROFILE_SECONDS, PROFILE_SECONDS_MAX } from './limits.ts';

/**
 * A CPU profile of the stand-in kubelet, in the format of any kubelet, but with JavaScript functions.
 */
export async function cpuProfile(asked: string | null): Promise<Buffer> {
  const seconds = Number(asked) > 0 ? Number(asked) : PROFILE_SECONDS;
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.setSamplingInterval', { interval: PROFILE_INTERVAL_US });
    await session.post('Profiler.start');
    await sleep(1_000 * Math.min(seconds, PROFILE_SECONDS_MAX));
    const { profile } = await session.post('Profiler.stop');
    const tookMs = (profile.endTime - profile.startTime) / 1_000;
    return gzipSync(pprofOf(profile, Math.round(Date.now() - tookMs)));
  } finally {
    session.disconnect();
  }
}

/** The fields of the message Profile that are written here. */
const FIELD = { type: 1, sample: 2, location: 4, function: 5, string: 6, time: 9, duration: 10 };
const STRINGS = ['', 'samples', 'count', 'cpu', 'nanoseconds'];

/** V8's name for a waiting thread, which uses no CPU time. */
const IDLE = '(idle)';

/** The same profile in the form of pprof's profile.proto. */
export function pprofOf(recorded: Profiler.Profile, beganMs: number): Uint8Array {
  const { nodes, startTime, endTime } = recorded;
  const writer = new BinaryWriter();
  const put = (field: number, message: BinaryWriter) =>
    writer.tag(field, WireType.LengthDelimited).bytes(message.finish());
  put(FIELD.type, numbers({ 1: 1, 2: 2 }));
  put(FIELD.type, numbers({ 1: 3, 2: 4 }));
  for (const { count, us, stack } of stacksOf(recorded)) {
    put(FIELD.sample, list(list(new BinaryWriter(), 1, stack), 2, [count, us * 1_000]));
  }
  for (const [at, { id }] of nodes.entries()) {
    put(FIELD.function, numbers({ 1: id, 2: STRINGS.length + at }));
    const line = numbers({ 1: id }).finish();
    put(FIELD.location, numbers({ 1: id }).tag(4, WireType.LengthDelimited).bytes(line));
  }
  const names = nodes.map(({ callFrame }) => callFrame.functionName || '(anonymous)');
  for (const text of [...STRINGS, ...names]) {
    writer.tag(FIELD.string, WireType.LengthDelimited).string(text);
  }
  writer.tag(FIELD.time, WireType.Varint).int64(BigInt(beganMs) * 1_000_000n);
  return writer
    .tag(FIELD.duration, WireType.Varint)
    .int64((endTime - startTime) * 1_000)
    .finish();
}

function numbers(fields: Readonly<Record<number, number>>): BinaryWriter {
  const message = new BinaryWriter();
  for (const [field, value] of Object.entries(fields))
    message.tag(Number(field), WireType.Varint).int64(value);
  return message;
}

function list(message: BinaryWriter, field: number, values: readonly number[]): BinaryWriter {
  message.tag(field, WireType.LengthDelimited).fork();
  for (const value of values) message.int64(value);
  return message.join();
}

interface SpentAt {
  count: number;
  us: number;
  /** The innermost call first. */
  readonly stack: readonly number[];
}

function stacksOf({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): readonly SpentAt[] {
  const parents = new Map(
    nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)),
  );
  const idle = nodes.find(({ callFrame }) => callFrame.functionName === IDLE)?.id;
  const spent = new Map<number, SpentAt>();
  for (const [at, id] of samples.entries()) {
    if (id === idle) continue;
    const here = spent.get(id) ?? { count: 0, us: 0, stack: stackOf(id, parents) };
    here.count += 1;
    // It lasted until the next sample.
    here.us += Math.max(0, timeDeltas[at + 1] ?? 0);
    spent.set(id, here);
  }
  return [...spent.values()];
}

function stackOf(leaf: number, parents: ReadonlyMap<number, number>): readonly number[] {
  const stack: number[] = [];
  for (let id = leaf; ; ) {
    const parent = parents.get(id);
    // The root is left out.
    if (parent === undefined) return stack;
    stack.push(id);
    id = parent;
  }
}
