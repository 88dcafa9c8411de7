import { type HostNamespace, requireHostNamespace } from '../evidence/kernel/host-namespace.ts';
import {
  type KernelNumber,
  kernelNumber,
  kernelNumberIn,
} from '../evidence/kernel/kernel-number.ts';
import { kernelLog } from '../evidence/logs/kernel-log.ts';
import { kubeletLog } from '../evidence/logs/kubelet-log.ts';
import {
  endOfLog,
  entriesOf,
  type KubeletLog,
  type LogEntry,
} from '../evidence/logs/log-entries.ts';
import { unlessMissing } from '../evidence/text/file-path.ts';
import { defineEvidence, type Evidence } from '../model/evidence.ts';
import type { FindingState, Proof, Step } from '../model/finding.ts';
import type { KernelUse } from '../model/kernel-use.ts';
import type { LogSignature } from '../model/log-signature.ts';
import type { Unknown } from '../model/verdict.ts';
import type { Check, CheckResults, Fact, Message, Observation } from './short-fault.ts';

/** What a node lacks by design, such as a kernel module: there is nothing to check then. */
export const ABSENT = { absent: true } as const;

function observed<F extends Fact>(
  { reason, summary, state }: Message<F>,
  usual: FindingState,
  fact: F,
): Observation {
  const { proof, subject = {}, pins = {}, max } = fact;
  const text = typeof summary === 'string' ? summary : summary(fact);
  const report = { state: state ?? usual, reason, summary: text, proof, subject, pins };
  return max === undefined ? report : { ...report, max };
}

/** A note where the node lacks what is checked, and else what `judge` says of it. */
function unlessAbsent<T>(absent: Message<Fact> | undefined, judge: (value: T) => CheckResults) {
  return (value: T | typeof ABSENT): CheckResults => {
    if (value !== ABSENT) return judge(value as T);
    return absent ? [observed(absent, 'benign', { proof: [] })] : [];
  };
}

/** A number, the value at which it is reported as `latent`, and the one at which the fault begins. */
export interface Measure extends Fact {
  readonly value: number;
  readonly warnAt: number;
  readonly failAt: number;
  /** Low values are bad, such as free bytes or the days until a certificate expires. */
  readonly isFalling?: boolean;
}

interface ThresholdMessages<M extends Fact> {
  readonly warn: Message<M>;
  readonly fail: Message<M>;
  /** Where a node may lack what is measured; benign. */
  readonly absent?: Message<Fact>;
}

/** Judges numbers by two limits: `latent` at `warnAt` or beyond, `active` at `failAt` or beyond. */
export function threshold<T, M extends Measure>(
  check: ThresholdMessages<M> & {
    readonly evidence: Evidence<T | typeof ABSENT>;
    readonly measure: (value: T) => readonly (M | Unknown)[];
  },
): Check {
  const { evidence, measure, warn, fail, absent } = check;
  const judge = (each: M | Unknown): CheckResults => {
    if ('why' in each) return [each];
    if (isReached(each, each.failAt)) return [observed(fail, 'active', each)];
    return isReached(each, each.warnAt) ? [observed(warn, 'latent', each)] : [];
  };
  return {
    evidence,
    messages: [fail, warn, absent],
    observe: unlessAbsent(absent, (value: T) => measure(value).flatMap(judge)),
  };
}

function isReached({ value, isFalling = false }: Measure, limit: number): boolean {
  return isFalling ? value <= limit : value >= limit;
}

/** How much of a limit is in use. `warnAt` is a share of the limit, such as 0.8. */
export function measureUse(used: KernelNumber, limit: KernelNumber, warnAt: number) {
  const [value, max] = [used.value, limit.value];
  return { value, warnAt: max * warnAt, failAt: max, max, proof: [used.proof, limit.proof] };
}

/** Judges a number of the kernel by its limit. Both are read from files of the kernel. */
export function kernelUse(
  check: ThresholdMessages<ReturnType<typeof measureUse>> &
    KernelUse & {
      /** Of the evidence. */
      readonly id: string;
      readonly title: string;
      /** The files differ between namespaces of this kind: only those of the node count. */
      readonly namespace?: HostNamespace;
    },
): Check {
  const { id, title, used, limit, warnAt, unlimited, namespace, ...messages } = check;
  const evidence = defineEvidence({
    id,
    title,
    collect: async (snapshot) => {
      if (namespace) await requireHostNamespace(snapshot, namespace);
      const reading = kernelNumber(snapshot, used);
      const inUse = await (messages.absent ? unlessMissing(reading) : reading);
      return inUse ? { inUse, limit: await kernelNumber(snapshot, limit) } : ABSENT;
    },
  });
  const judged = threshold({
    ...messages,
    evidence,
    measure: ({ inUse, limit: max }) =>
      max.value === unlimited ? [] : [measureUse(inUse, max, warnAt)],
  });
  return { ...judged, kernelUses: [check] };
}

/** Which of its limits a number of the kernel has reached, by the texts of its two files. */
export function reachedLimit(
  { used, limit, warnAt, unlimited }: KernelUse,
  usedText: string,
  limitText: string,
): 'none' | 'warn' | 'fail' | 'unknown' {
  const [inUse, max] = [kernelNumberIn(usedText, used), kernelNumberIn(limitText, limit)];
  if (!inUse || !max) return 'unknown';
  const measure = measureUse(inUse, max, warnAt);
  if (max.value === unlimited || !isReached(measure, measure.warnAt)) return 'none';
  return isReached(measure, measure.failAt) ? 'fail' : 'warn';
}

/** A step that doubles a limit of the kernel, or shows it where it is not known. */
export function raiseSysctl(name: string, max: number | undefined): Step {
  return { command: max ? `sysctl --write ${name}=${2 * max}` : `sysctl ${name}` };
}

/** Two facts that should agree, each with its proof. */
export interface Pair extends Pick<Fact, 'subject' | 'pins'> {
  readonly is: Proof;
  readonly expected: Proof;
  readonly agrees: boolean;
}

/** Judges whether two facts agree: `active` where they do not. */
export function comparison<T, P extends Pair>(check: {
  readonly evidence: Evidence<T | typeof ABSENT>;
  readonly compare: (value: T) => readonly (P | Unknown)[];
  readonly differs: Message<P & Fact>;
  /** Where a node may lack what is compared; benign. */
  readonly absent?: Message<Fact>;
}): Check {
  const { evidence, compare, differs, absent } = check;
  const judge = (each: P | Unknown): CheckResults => {
    if ('why' in each) return [each];
    if (each.agrees) return [];
    return [observed(differs, 'active', { ...each, proof: [each.is, each.expected] })];
  };
  return {
    evidence,
    messages: [differs, absent],
    observe: unlessAbsent(absent, (value: T) => compare(value).flatMap(judge)),
  };
}

/** Lines of a log with the same signature and about the same thing. */
export interface LoggedLines extends Fact {
  readonly count: number;
  readonly last: LogEntry;
}

const LOGS = { kernel: kernelLog, kubelet: kubeletLog };

interface LogAlarm {
  readonly isSupplement?: false;
  readonly recent: Message<LoggedLines>;
  /** Benign. */
  readonly earlier?: Message<LoggedLines>;
}

/**
 * Set `isSupplement` where another check of the fault decides, and the log only confirms it. Each
 * finding is then benign, and a node whose log cannot be read can be clear.
 */
interface LogNote {
  readonly isSupplement: true;
  readonly recent: BenignMessage;
  readonly earlier?: BenignMessage;
}

type BenignMessage = Message<LoggedLines> & { readonly state?: never };

/** Judges by what a log says: `active` when the last such line is recent, otherwise a note, or nothing. */
export function signature(
  check: LogSignature & {
    /** An older line does not show the current state of the node. */
    readonly withinMs: number;
    readonly example: string;
    /** What the lines are about, where a node can have several of it: one finding for each. */
    readonly about?: (entry: LogEntry) => Pick<Fact, 'subject' | 'pins'>;
    /** Lines with the same text that mean something else. */
    readonly except?: (entry: LogEntry) => boolean;
  } & (LogAlarm | LogNote),
): Check {
  const { withinMs, recent, earlier, about, except, isSupplement = false, ...line } = check;

  const observe = (read: KubeletLog): CheckResults => {
    const entries = entriesOf(read, line).filter((entry) => !except?.(entry));
    const groups = Map.groupBy(entries, (entry) => JSON.stringify(about?.(entry).pins));
    const found = [...groups.values()].flatMap((group) => {
      const last = group.findLast(({ time }) => time) ?? group.at(-1);
      return last ? judgedLine(last, group.length, read) : [];
    });
    return [...found, ...(isSupplement ? [] : gapsOf(read))];
  };

  function judgedLine(last: LogEntry, count: number, read: KubeletLog): CheckResults {
    const now = read.readAt ?? endOfLog(read);
    if (!last.time || !now) {
      return isSupplement ? [] : [{ why: `a line of the log has no time: ${last.text}` }];
    }
    const literal = line.literals.find((each) => last.text.includes(each)) ?? line.literals[0];
    const claim = `the ${line.log} logged "${literal}"${count > 1 ? ` ${count} times` : ''}`;
    const proof = [{ claim, text: last.text, origin: last.origin }];
    const lines = { count, last, proof, ...about?.(last) };
    if (now.getTime() - last.time.getTime() <= withinMs) {
      return [observed(recent, isSupplement ? 'benign' : 'active', lines)];
    }
    return earlier ? [observed(earlier, 'benign', lines)] : [];
  }

  /** A log that was not searched for it, or that does not go back far enough, rules nothing out. */
  function gapsOf({ unasked, sources, readAt }: KubeletLog): readonly Unknown[] {
    if (unasked.includes(line.id)) {
      return [{ why: `the recorded log was not searched for ${line.id}` }];
    }
    const since = (readAt?.getTime() ?? 0) - withinMs;
    const isLongEnough = sources.some(
      ({ isWhole, firstTime }) => isWhole || (firstTime && firstTime.getTime() <= since),
    );
    return isLongEnough ? [] : [{ why: 'the log does not go back far enough' }];
  }

  return {
    evidence: LOGS[line.log],
    isSupplement,
    messages: [recent, earlier],
    logSignatures: [line],
    observe,
  };
}
