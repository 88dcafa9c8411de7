import type { LogSignature } from './log-signature.ts';
import { type NodeReader, ReadError } from './node-reader.ts';

/** One kind of thing that can be known about a node, and the only way we learn it. */
export interface Evidence<T> {
  readonly id: string;
  readonly title: string;
  /** What a person runs to collect it; `kubediag check` where no single command shows it. */
  readonly command?: string;
  /** It needs nothing but other evidence, or answers that given texts may hold. */
  readonly isDerived?: true;
  readonly collect: (snapshot: Snapshot) => Promise<T>;
}

/** One look at one node: every kind of evidence is collected at most once in it. */
export interface Snapshot {
  readonly node: NodeReader;
  readonly settings: SnapshotOptions;
  /** What faults declare to read in logs, so that each log is read once for all of them. */
  readonly logSignatures: readonly LogSignature[];
  /** Evidence that stands on other evidence asks for it here. */
  of<T>(evidence: Evidence<T>): Promise<T>;
}

/** A snapshot that collects each kind of evidence at most once, by `collect`. */
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

/** What a person, or an earlier check, knows and the node does not show. */
export interface SnapshotOptions {
  readonly kubeletPid?: number | undefined;
  readonly kubeletRoot?: string | undefined;
  readonly runtimeEndpoint?: string | undefined;
  /** The file that the kubelet logs to, when it is not found by itself. */
  readonly kubeletLog?: string | undefined;
  /** The options that faults declare, by name: `optionValue` reads them. */
  readonly [option: string]: unknown;
}

/** An option that one kind of evidence takes, and the fault that needs it declares. */
export interface EvidenceOption<T> {
  readonly name: string;
  /** The value as it is, if it is one; a bundle may hold anything. */
  readonly read: (value: unknown) => T | undefined;
}

export function optionValue<T>(option: EvidenceOption<T>, options: SnapshotOptions): T | undefined {
  return option.read(options[option.name]);
}

/** Something that was asked for and may not have been answered. */
export type Maybe<T> =
  | { readonly known: true; readonly value: T }
  | { readonly known: false; readonly why: string; readonly error?: ReadError };

/** Marks evidence that a fault can judge without, at the price of saying less. */
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

/** A read that may fail without ending the check, with the error as a value. */
export type Attempt<T> = Maybe<T> & ({ readonly known: true } | { readonly error: ReadError });

/** For evidence with alternative sources: the only place below checkup where a failed read is caught. */
export async function attempt<T>(read: Promise<T>): Promise<Attempt<T>> {
  try {
    return { known: true, value: await read };
  } catch (error) {
    if (!(error instanceof ReadError)) throw error;
    return { known: false, why: error.message, error };
  }
}
