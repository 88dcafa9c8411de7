/** What `--help` of a command says beside its options. */
export interface CommandHelp {
  /** What somebody wants to do, and the command that does it. */
  readonly examples: readonly (readonly [purpose: string, command: string])[];
  /** What each exit code of it means; 64 and 70 mean the same everywhere. */
  readonly exitCodes: Readonly<Record<number, string>>;
}

/** For what only prints. */
export const PRINTED = { 0: 'printed' };
