import { jsonValue, textAt } from '../../lib/std/json.ts';
import { findingId } from '../../node/checkup/judge-faults.ts';
import type { AnyFault } from '../../node/model/fault.ts';
import { isActive } from '../../node/model/finding.ts';
import type { Verdict } from '../../node/model/verdict.ts';
import {
  failedWith,
  needed,
  type OperationResult,
  refusedWith,
  type StepInput,
  type StepRecord,
} from '../steps/operation-result.ts';
import { podOfStep } from '../steps/step-input.ts';
import { checkForFault } from './diagnose-fault.ts';
import { stepsOf } from './fault-steps.ts';
import type { OwnProcessor, ProcessorHost } from './processor-host.ts';
import { doneBefore, type Recovered, recoverFindings } from './recover-finding.ts';

/** The processor that repairs what `diagnoserOf` has found. */
export function recoverProcessorOf(fault: AnyFault): OwnProcessor {
  const steps = stepsOf(fault);
  return {
    path: steps.recoverPath,
    operation: steps.recover,
    does: 'repairs the findings of that step that a new check confirms',
    details:
      'Only the ids of the findings are used. A finding that is neither damaged nor active, that the new ' +
      'check does not confirm, or that needs the confirmation of a person is refused. The others are ' +
      'repaired, but the step fails.',
    reads: [steps.findings],
    writes: [steps.recovered],
    repairs: true,
    forPod: fault.affectsWholeNode ? 'refused' : 'limited',
    repairsFault: fault.id,
    run: (input, host) => recoverFault(fault, input, host),
  };
}

/**
 * Repairs what the diagnoser of this fault has found, if a new check finds the same and it is active:
 * worst first, one after another, and one that is refused does not stop the others.
 */
async function recoverFault(
  fault: AnyFault,
  input: StepInput,
  host: ProcessorHost,
): Promise<OperationResult> {
  const keys = stepsOf(fault);
  const { [keys.findings]: text } = input;
  if (!text) return failedWith(needed(keys.findings, `let ${keys.diagnoser} be an earlier step`));
  const wanted = idsIn(text);
  if (wanted.length === 0) {
    const what = `${keys.findings} names no finding by its id`;
    return failedWith(`${what}: hand on what ${keys.diagnoser} answers, as it is`);
  }
  const before = await doneBefore(fault, host);
  if (!before.isKnown) return failedWith(before.why, undefined, 'Refused');
  const { verdict, checked } = await checkForFault(fault, podOfStep(input), host);
  const found = verdict.findings
    .filter(isActive)
    .map((finding) => ({ id: findingId(fault, finding), finding }))
    .filter(({ id }) => wanted.includes(id));
  const missing = wanted.filter((id) => found.every((each) => each.id !== id));
  const earlier = before.done;
  const begun = missing.filter((id) => earlier.some(({ finding }) => finding === id));
  if (found.length + begun.length === 0) return refusedWith(goneText(fault, wanted, verdict));
  const findings = found.map(({ finding }) => finding);
  const ended = await recoverFindings({ fault, findings, earlier, begun }, checked, host);
  const gone = missing.filter((id) => ended.every((each) => each.id !== id));
  return resultOf(keys.recovered, ended, gone);
}

/** The ids in what the diagnoser has answered; none when it is something else. */
function idsIn(text: string): readonly string[] {
  const list = jsonValue(text)?.value;
  if (!Array.isArray(list)) return [];
  return list.flatMap((each: unknown) => textAt(each, 'id') ?? []);
}

const SHOWN_MAX = 5;

function shown(ids: readonly string[]): string {
  const more = ids.length > SHOWN_MAX ? ` and ${ids.length - SHOWN_MAX} more` : '';
  return `${ids.slice(0, SHOWN_MAX).join(', ')}${more}`;
}

function goneText(fault: AnyFault, wanted: readonly string[], verdict: Verdict): string {
  const unknowns = verdict.unknowns.map(({ why }) => why).join('; ');
  const now = verdict.findings
    .filter(({ state }) => state !== 'benign')
    .map((finding) => `${findingId(fault, finding)} (${finding.state})`);
  const seen = now.length > 0 ? shown(now) : verdict.state === 'unknown' ? unknowns : 'it is clear';
  const why = 'it may be repaired already, or have been replaced';
  return `a new check does not find that ${shown(wanted)} is active: ${seen}; ${why}`;
}

function resultOf(
  key: string,
  ended: readonly Recovered[],
  gone: readonly string[],
): OperationResult {
  const record: StepRecord = {
    ...joined('plannedActions', ended),
    ...joined('actions', ended),
  };
  const ids = (state: Recovered['state']) =>
    ended.filter((each) => each.state === state).map(({ id }) => id);
  const parts = [
    ['recovered', ids('done')],
    ['would recover', ids('planned')],
    ['no longer found', gone],
  ] as const;
  const words = parts
    .filter(([, list]) => list.length > 0)
    .map(([what, list]) => `${what} ${shown(list)}`)
    .join('; ');
  const refusals = ended.flatMap((each) => ('why' in each ? [`${each.id}: ${each.why}`] : []));
  if (refusals.length === 0) return { succeeded: true, results: { [key]: words }, record };
  const reason = ended.some(({ state }) => state === 'refused') ? 'Refused' : undefined;
  return failedWith([...refusals, words].filter((text) => text !== '').join('; '), record, reason);
}

function joined<K extends 'plannedActions' | 'actions'>(name: K, ended: readonly Recovered[]) {
  const all = ended.flatMap(({ record }) => record[name] ?? []);
  return all.length === 0 ? {} : { [name]: all };
}
