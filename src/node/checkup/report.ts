import type { Action } from '../model/action.ts';
import type { FindingState, Proof, Step, Subject } from '../model/finding.ts';
import type { ReadFailure } from '../model/node-reader.ts';

/**
 * What a check says, for programs. It is public: fields are added, never renamed or removed, within
 * a version. Its schema is docs/reference/report.schema.json.
 */
export interface Report {
  readonly apiVersion: 'diagnosis.kubediag.org/v1';
  readonly kind: 'Report';
  readonly node: NodeSummary;
  readonly faults: readonly FaultReport[];
  /** Of a report on loose texts: what they were taken for, and what would be needed beside them. */
  readonly examined?: Examined;
}

export interface Examined {
  readonly files: readonly ExaminedFile[];
  readonly missing: readonly MissingReport[];
}

export interface ExaminedFile {
  readonly name: string;
  /** Each kind of thing that stands in it; empty when nothing was recognised. */
  readonly detectedAs: readonly string[];
  /** Why it could not be read. */
  readonly failure?: string;
}

/** Evidence that was not given, or not as a whole. */
export interface MissingReport {
  readonly what: string;
  /** What would collect it, on the node or where kubectl works. */
  readonly command: string;
  /** The faults that cannot be called clear without it. */
  readonly faults: readonly string[];
}

export interface NodeSummary {
  readonly name: string;
  /** The node's clock at the time of the check. */
  readonly time: string;
  readonly kubelet: {
    readonly presence: 'running' | 'stopped' | 'absent' | 'unknown';
    readonly program?: string;
    readonly version?: string;
    readonly pid?: number;
    readonly root?: string;
    /** What is odd about it: processes that only call themselves kubelet, settings we could not read. */
    readonly notes?: readonly string[];
  };
  readonly runtime?: {
    readonly name: string;
    readonly version: string;
    readonly criVersion: string;
    readonly socket: string;
  };
  readonly pods?: number;
  readonly mounts?: number;
  readonly tookMs: number;
}

export interface FaultReport {
  readonly name: string;
  readonly title: string;
  /** Where the fault is described in public. */
  readonly references: readonly string[];
  readonly verdict: 'found' | 'clear' | 'unknown';
  /** Why it is unknown, or what could not be judged beside what was found. */
  readonly reason?: string;
  /** The failures of the reads that led to that reason, each one once: "denied", "timeout". */
  readonly failures?: readonly ReadFailure[];
  readonly findings: readonly FindingReport[];
}

/** A repair that must come first, and why. */
export interface WaitsFor {
  readonly fault: string;
  readonly finding: string;
  readonly why: string;
}

export interface ProofReport extends Omit<Proof, 'origin'> {
  /** "/proc/812/mountinfo:4", "CRI ListContainers" */
  readonly origin: string;
}

export interface FindingReport {
  readonly id: string;
  readonly state: FindingState;
  readonly reason: string;
  readonly summary: string;
  readonly subject: Subject;
  readonly proof: readonly ProofReport[];
  readonly blastRadius: string;
  readonly excluded: readonly string[];
  /** Other repairs than ours: sentences, and commands to copy. */
  readonly alternatives: readonly Step[];
  /** Why we have no action for it: then only a person can cure it. */
  readonly refusal?: string;
  /** What prevents it from happening again after the repair. */
  readonly prevention?: readonly string[];
  readonly actions: readonly Action[];
  /** Findings of other faults that must be repaired before this one. */
  readonly waitsFor?: readonly WaitsFor[];
}
