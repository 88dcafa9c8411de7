/**
 * The results of a Diagnosis. The phase only says whether a path of its graph succeeded: on a healthy
 * node it is Failed, because the step that searches for the fault fails.
 */
export const RESULTS = {
  Repaired: 'every action succeeded, and a check afterwards confirmed it',
  Found: 'something was found, and not repaired, for example because spec.recovery is Never',
  NothingFound: 'none of the faults in question is present',
  Completed: 'the graph ran to its end; none of its steps diagnoses a fault',
  WaitingForApproval: 'nothing is changed until spec.approvedPlan names status.plan',
  Refused: 'a step or an action was refused',
  Error: 'a step or an action failed, the deadline passed, or an object is missing',
  Cancelled: 'spec.cancel or Ctrl-C ended it',
} as const satisfies Readonly<Record<string, string>>;

export type DiagnosisResult = keyof typeof RESULTS;

/** Why a built-in step failed, where that is not an error. */
export const STEP_REASONS = {
  NothingFound: 'the fault is absent',
  NotActive: 'something was found that does no harm now, so there is nothing to repair',
  Unknown: 'it could not be determined whether the fault is present',
  Refused: 'KubeDiag refused the repair',
} as const satisfies Readonly<Record<string, string>>;

export type StepReason = keyof typeof STEP_REASONS;

/** The result of a step. One that failed may have found something all the same. */
export type StepResult =
  | { readonly succeeded: true; readonly results: Readonly<Record<string, string>> }
  | {
      readonly succeeded: false;
      readonly message: string;
      /** Where it is no error. */
      readonly reason?: StepReason;
      readonly results?: Readonly<Record<string, string>>;
    };

/** "Repaired: every action ...; Found: something ...", for the description of a field. */
export function meaningsOf(text: Readonly<Record<string, string>>): string {
  return Object.entries(text)
    .map(([word, meaning]) => `${word}: ${meaning}`)
    .join('. ');
}
