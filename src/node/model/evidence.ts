import type { LogSignature } from './log-signature.ts';
import type { NodeReader } from './node-reader.ts';

/** One kind of thing that can be known about a node, and the only way we learn it. */
export interface Evidence<T> {
  readonly id: string;
  readonly title: string;
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

/** What a person may specify because the node does not show it. */
export interface SnapshotOptions {
  readonly kubeletPid?: number | undefined;
  readonly kubeletRoot?: string | undefined;
  readonly runtimeEndpoint?: string | undefined;
  /** The file that the kubelet logs to, when it is not found by itself. */
  readonly kubeletLog?: string | undefined;
  /** A younger leftover directory may still be in use. */
  readonly minimumAgeMs?: number | undefined;
  /**
   * For how long earlier checks have seen calls of the kubelet that do not return. Set by a watch, so
   * that the next check, or a replay of it, can say how long they last.
   */
  readonly waitedMs?: Readonly<Record<string, number>> | undefined;
}

/** Something that was asked for and may not have been answered. */
export type Maybe<T> =
  | { readonly known: true; readonly value: T }
  | { readonly known: false; readonly why: string };

/** Marks evidence that a fault can judge without, at the price of saying less. */
export interface Optional<T> {
  readonly optional: Evidence<T>;
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
