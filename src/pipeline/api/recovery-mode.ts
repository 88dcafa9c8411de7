/** Whether a repair may run by itself, the most permissive first. */
export const RECOVERY_MODES = ['Automatic', 'Approval', 'Never'] as const;

export type RecoveryMode = (typeof RECOVERY_MODES)[number];

/** Absent: Automatic, as in manifests of upstream KubeDiag. */
export function strictestMode(...modes: readonly (RecoveryMode | undefined)[]): RecoveryMode {
  const ranks = modes.map((mode) => RECOVERY_MODES.indexOf(mode ?? 'Automatic'));
  return RECOVERY_MODES[Math.max(0, ...ranks)] ?? 'Never';
}
