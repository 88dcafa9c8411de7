import type { LeftoverFolders } from '../../evidence/volumes/leftover-folders.ts';
import type { TeardownLog } from '../../evidence/volumes/teardown-log.ts';
import type { Maybe } from '../../model/evidence.ts';

/** The folders of the node, and the kubelet's own words: each can prove the fault alone. */
export interface Seen {
  readonly leftovers: Maybe<LeftoverFolders>;
  readonly log: Maybe<TeardownLog>;
}
