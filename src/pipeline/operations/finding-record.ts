import { cutSentence } from '../../lib/std/cut-sentence.ts';
import { findingId } from '../../node/checkup/judge-faults.ts';
import type { AnyFault } from '../../node/model/fault.ts';
import type { Finding } from '../../node/model/finding.ts';
import { originText } from '../../node/model/origin.ts';
import { PROOF_CHARACTERS_MAX } from './limits.ts';
import type { StepRecord } from './operation-result.ts';

type FindingRecord = NonNullable<StepRecord['findings']>[number];

/** A finding as the status of a Diagnosis lists it, with the lines that prove it. */
export function findingRecord(fault: AnyFault, finding: Finding): FindingRecord {
  const { state, reason, summary } = finding;
  const subject = { ...finding.subject };
  const short = (text: string) => cutSentence(text, PROOF_CHARACTERS_MAX);
  const proof = finding.proof.map(({ claim, text, origin }) => ({
    claim: short(claim),
    ...(text === undefined ? {} : { text: short(text) }),
    origin: short(originText(origin)),
  }));
  return { fault: fault.id, id: findingId(fault, finding), state, reason, summary, subject, proof };
}
