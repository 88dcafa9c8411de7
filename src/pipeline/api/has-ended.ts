/** Whether a Diagnosis in this phase is over. */
export function hasEnded(phase: unknown): boolean {
  return phase === 'Succeeded' || phase === 'Failed';
}
