import type { Tried } from '../../lib/state/state-folder.ts';
import type { StoredFile } from '../../lib/state/stored-files.ts';
import type { CheckableNode, CheckListener, CheckResult } from '../../node/checkup/run-check.ts';
import type { SnapshotOptions } from '../../node/model/evidence.ts';
import type { JournalRecord } from '../../node/repair/journal.ts';
import type { OpenRepair } from '../../node/repair/open-repair.ts';
import type { Consent } from '../../node/repair/recover.ts';
import type { OperationResult, StepFile, StepInput } from '../steps/operation-result.ts';
import type { RecoveryRequest } from '../steps/recovery-request.ts';
import type { PodScope } from './pod-scope.ts';

/** Where `storeFile` stores a file, for the reference page. */
export const FILE_PLACE =
  'a file that only root can read. It is below `collected` of the state directory, where the newest ' +
  'files are retained. On a cluster it is below `cluster/results`: the status of the Diagnosis lists it, ' +
  'and it is deleted with the Diagnosis.';

/** What built-in processors need from the host of a step: the node, and the consent to change it. */
export interface ProcessorHost {
  /** Its questions end with the time of the step. */
  readonly node: CheckableNode;
  /** What is known about the node before it is asked. */
  readonly settings: SnapshotOptions;
  /** The only pod that the step may see and change. Absent: the whole node. */
  readonly scope?: PodScope;
  /** Receives the progress of a check. */
  readonly listener: CheckListener;
  /** Saves what a check read; without that nothing is changed. */
  readonly saveEvidence: (
    checked: CheckResult,
    findingId: string,
  ) => Promise<{ readonly path: string } | { readonly failure: string; readonly todo?: string }>;
  /** Asked before every recovery. */
  readonly consent: (request: RecoveryRequest) => Promise<Consent>;
  readonly openRepair: () => Promise<OpenRepair>;
  /** What an earlier attempt of this step has done before it was interrupted. */
  readonly earlierActions: () => Promise<EarlierActions>;
  /** Whether the journal of the node shows that this pod is gone, as it counts for this finding. */
  readonly hasSeenGone: (podUid: string, finding: string) => boolean;
  /** Written beside each action of this step, so that a later attempt knows it. */
  readonly purpose?: string | undefined;
  /** How long the step may take. Checks end at this limit by themselves; other waits must use it. */
  readonly timeoutMs: number;
  readonly stop: AbortSignal;
  /** Stores a collected file on the node and returns its path. */
  readonly storeFile: (file: StoredFile) => Promise<Tried<string>>;
  /** Our own directory on the node, as this process reaches it. */
  readonly stateFolder: string;
  /** Where this process has the root of the node: "/", or "/host". */
  readonly hostRoot: string;
}

/** A built-in processor. */
export interface OwnProcessor {
  /** The path of upstream KubeDiag. */
  readonly path: string;
  /** Name of the built-in Operation, which needs no manifest. */
  readonly operation: string;
  /** What it does, as a clause. */
  readonly does: string;
  /** What else a user has to know, for the reference page. */
  readonly details?: string;
  /** Required input keys; `writes` are the keys of its result. */
  readonly reads: readonly string[];
  /** Alternative to `reads`. */
  readonly readsElse?: readonly string[];
  /** Optional input keys. */
  readonly mayRead?: readonly string[];
  /** Keys of upstream KubeDiag without effect here, and why; the result has a note for each. */
  readonly unused?: Readonly<Record<string, string>>;
  readonly writes: readonly string[];
  /** Whether it may change the node. */
  readonly repairs: boolean;
  /**
   * What it does where a Diagnosis of a pod may see that pod only: 'limited' to the scope of its host, or
   * 'refused'.
   */
  readonly forPod: 'limited' | 'refused';
  /** The fault of this node that it repairs. */
  readonly repairsFault?: string;
  /** It captures traffic or sends a signal: an executor needs the permission of its policy. */
  readonly needsPermission?: true;
  /** The addresses of servers in its input: an executor asks only those of its policy. */
  readonly serversIn?: (input: StepInput) => readonly string[];
  readonly run: (input: StepInput, host: ProcessorHost) => Promise<OperationResult>;
}

/** What a step needs of the node while it runs. */
export interface HostRequest {
  readonly timeoutMs: number;
  readonly consent: ProcessorHost['consent'];
  /** The step of a Diagnosis that it is for, the same in every attempt. */
  readonly purpose?: string;
  /** The Diagnosis of the step. */
  readonly uid?: string;
  /** Its Diagnosis names a pod: bundles stay on the node, because they show all of it. */
  readonly isForPod?: boolean;
  /** Called with each stored file that is deleted with its Diagnosis, which may list it. */
  readonly onFile?: (file: StepFile) => void;
  readonly stop: AbortSignal;
}

/** Opens the node for one step. */
export type WithHost = <T>(
  request: HostRequest,
  use: (host: ProcessorHost) => Promise<T>,
) => Promise<T>;

export type EarlierActions =
  | { readonly isKnown: true; readonly done: readonly JournalRecord[] }
  /** One was begun, and nobody can say yet whether it came about. */
  | { readonly isKnown: false; readonly why: string };
