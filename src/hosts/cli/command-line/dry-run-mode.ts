/** The values of `apply --dry-run`, as in kubectl. */
export const DRY_RUN_MODES = ['none', 'client', 'server'] as const;
export type DryRunMode = (typeof DRY_RUN_MODES)[number];
