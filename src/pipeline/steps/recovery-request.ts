import type { Recovery } from '../../node/model/fault.ts';
import type { Finding } from '../../node/model/finding.ts';

/** A finding that a step wants to repair, and how. */
export interface RecoveryRequest
  extends Pick<Recovery, 'actions' | 'touches' | 'leaves'>,
    Pick<Finding, 'summary'> {
  readonly fault: string;
  /** The short id of the finding. */
  readonly finding: string;
}
