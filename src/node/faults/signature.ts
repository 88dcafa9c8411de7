import {
  endOfLog,
  entriesOf,
  type KubeletLog,
  type LogEntry,
} from '../evidence/logs/log-entries.ts';
import type { Evidence } from '../model/evidence.ts';
import type { LogSignature } from '../model/log-signature.ts';
import type { Unknown } from '../model/verdict.ts';
import {
  type Check,
  type Fact,
  type Message,
  type Observation,
  observed,
  reasonsOf,
} from './short-fault.ts';

/** Lines of a log that say the same of the same thing. */
export interface Said extends Fact {
  readonly count: number;
  readonly last: LogEntry;
}

/** Judges by what a log says: `active` when the last such line is recent, otherwise a note, or nothing. */
export function signature(check: {
  readonly log: Evidence<KubeletLog>;
  readonly signature: LogSignature;
  /** An older line does not show the current state of the node. */
  readonly withinMs: number;
  readonly recent: Message<Said>;
  /** Benign. */
  readonly earlier?: Message<Said>;
  /** What the lines are about, where a node can have several of it: one finding for each. */
  readonly about?: (entry: LogEntry) => Pick<Fact, 'subject' | 'pins'>;
  /** Lines with the same text that mean something else. */
  readonly except?: (entry: LogEntry) => boolean;
  /** The log only adds a note: an alarm would depend on a log that a node need not have. */
  readonly isSupplement?: boolean;
}): Check {
  const { log, recent, earlier, except = () => false } = check;
  const about = (entry: LogEntry) => check.about?.(entry) ?? {};

  const observe = (read: KubeletLog): readonly (Observation | Unknown)[] => {
    const entries = entriesOf(read, check.signature).filter((entry) => !except(entry));
    const groups = Map.groupBy(entries, (entry) => JSON.stringify(check.about?.(entry).pins));
    const found = [...groups.values()].flatMap((group) => {
      const last = group.findLast(({ time }) => time) ?? group[group.length - 1];
      return last ? [judgedLine(last, group.length)] : [];
    });
    return [...found.flat(), ...(check.isSupplement ? [] : gapsOf(read))];

    function judgedLine(last: LogEntry, count: number): readonly (Observation | Unknown)[] {
      const now = read.readAt ?? endOfLog(read);
      const claim = `the log reports it${count > 1 ? `, ${count} lines of it` : ''}`;
      const proof = [{ claim, text: last.text, origin: last.origin }];
      const said = { count, last, proof, ...about(last) };
      if (!last.time || !now) {
        const why = `a line of the log has no time: ${last.text}`;
        return check.isSupplement ? [] : [{ why }];
      }
      if (now.getTime() - last.time.getTime() <= check.withinMs) {
        return [observed(recent, check.isSupplement ? 'benign' : 'active', said)];
      }
      return earlier ? [observed(earlier, 'benign', said)] : [];
    }
  };

  /** A log that was not searched for it, or that does not go back far enough, rules nothing out. */
  function gapsOf({ unasked, sources, readAt }: KubeletLog): readonly Unknown[] {
    if (unasked.includes(check.signature.id)) {
      return [{ why: `the recorded log was not searched for ${check.signature.id}` }];
    }
    const since = (readAt?.getTime() ?? 0) - check.withinMs;
    const isLongEnough = sources.some(
      ({ isWhole, firstTime }) => isWhole || (firstTime && firstTime.getTime() <= since),
    );
    return isLongEnough ? [] : [{ why: 'the log does not go back far enough' }];
  }

  return {
    evidence: log,
    isSupplement: check.isSupplement ?? false,
    reasons: reasonsOf(recent, earlier),
    logSignatures: [check.signature],
    observe,
  };
}
