import type { LogSignature } from './log-signature.ts';
import { type NodeReader, ReadError } from './node-reader.ts';

/** One kind of fact about a node, and the only code that reads it. */
export interface Evidence<T> {
  readonly id: string;
  readonly title: string;
  /** The command that collects it; `kubediag check` if no single command does. */
  readonly command?: string;
  /** It is derived from other evidence, or from answers that submitted texts may contain. */
  readonly isDerived?: true;
  readonly collect: (snapshot: Snapshot) => Promise<T>;
}

/** One check of one node. It collects each kind of evidence at most once. */
export interface Snapshot {
  readonly node: NodeReader;
  readonly settings: SnapshotOptions;
  /** The log signatures of all faults, so that each log is read only once. */
  readonly logSignatures: readonly LogSignature[];
  /** Returns other evidence that this evidence is derived from. */
  of<T>(evidence: Evidence<T>): Promise<T>;
}

/** A snapshot that calls `collect` at most once for each kind of evidence. */
export function snapshotOf(
  around: Omit<Snapshot, 'of'>,
  collect: <T>(evidence: Evidence<T>, snapshot: Snapshot) => Promise<T>,
): Snapshot {
  const collected = new Map<Evidence<unknown>, Promise<unknown>>();
  const snapshot: Snapshot = {
    ...around,
    of<T>(evidence: Evidence<T>): Promise<T> {
      const collecting = collected.get(evidence) ?? collect(evidence, snapshot);
      collected.set(evidence, collecting);
      return collecting as Promise<T>;
    },
  };
  return snapshot;
}

/** Facts that a user or an earlier check supplies, because the node does not show them. */
export interface SnapshotOptions {
  readonly kubeletPid?: number | undefined;
  readonly kubeletRoot?: string | undefined;
  readonly runtimeEndpoint?: string | undefined;
  /** The file that the kubelet logs to, if automatic detection does not find it. */
  readonly kubeletLog?: string | undefined;
  /** The options that faults declare, by name: `optionValue` reads them. */
  readonly [option: string]: unknown;
}

/** An option that one kind of evidence takes, and the fault that needs it declares. */
export interface EvidenceOption<T> {
  readonly name: string;
  /** Returns the value if it has the right type. A bundle may contain anything. */
  readonly read: (value: unknown) => T | undefined;
}

export function optionValue<T>(option: EvidenceOption<T>, options: SnapshotOptions): T | undefined {
  return option.read(options[option.name]);
}

/** Why something is not known, and the failed read if there was one. */
export interface UnknownReason {
  readonly why: string;
  readonly error?: ReadError;
}

/** A value that could be read, or the reason why not. */
export type Maybe<T> =
  | { readonly known: true; readonly value: T }
  | ({ readonly known: false } & UnknownReason);

/** Marks evidence that a fault can do without; its verdict then says less. */
export interface Optional<T> {
  readonly optional: Evidence<T>;
  /** It only adds notes: no verdict depends on it. */
  readonly isSupplement?: true;
}

// biome-ignore lint/suspicious/noExplicitAny: needs hold evidence of every type.
export type Needs = Readonly<Record<string, Evidence<any> | Optional<any>>>;

/** The values that arrive when the needs were collected: `{ mounts: MountTable, ... }`. */
export type Collected<N extends Needs> = {
  readonly [K in keyof N]: N[K] extends Evidence<infer T>
    ? T
    : N[K] extends Optional<infer T>
      ? Maybe<T>
      : never;
};

export function defineEvidence<T>(evidence: Evidence<T>): Evidence<T> {
  return evidence;
}

export function optional<T>(evidence: Evidence<T>): Optional<T> {
  return { optional: evidence };
}

/** The result of a read that may fail without ending the check. */
export type Attempt<T> = Maybe<T> & ({ readonly known: true } | { readonly error: ReadError });

/** For evidence with alternative sources. Below checkup, only this function catches a ReadError. */
export async function attempt<T>(read: Promise<T>): Promise<Attempt<T>> {
  try {
    return { known: true, value: await read };
  } catch (error) {
    if (!(error instanceof ReadError)) throw error;
    return { known: false, why: error.message, error };
  }
}
