import { findingId } from '../checkup/check-up.ts';
import type { AnyFault } from '../model/fault.ts';
import type { Finding } from '../model/finding.ts';
import type { StepRecord } from './operation-result.ts';

/** A finding as the status of a Diagnosis lists it. */
export function findingRecord(
  fault: AnyFault,
  finding: Finding,
): NonNullable<StepRecord['findings']>[number] & { readonly id: string } {
  const { state, reason, summary } = finding;
  return { fault: fault.id, id: findingId(fault, finding), state, reason, summary };
}
