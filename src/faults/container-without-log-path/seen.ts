import type { Kubelet } from '../../evidence/kubelet.ts';
import type { KubeletVersion } from '../../evidence/kubelet-version.ts';
import type { KubeletLog } from '../../evidence/log-entries.ts';
import type { MergedUsr } from '../../evidence/merged-usr.ts';
import type { UnloggedContainers } from '../../evidence/unlogged-containers.ts';
import type { WatchedDeletion } from '../../evidence/watched-deletions.ts';
import type { Maybe } from '../../model/evidence.ts';

/** All that the judgement stands on; it makes do with any part of it. */
export interface Seen {
  readonly kubelet: Maybe<Kubelet>;
  readonly version: Maybe<KubeletVersion>;
  readonly unlogged: Maybe<UnloggedContainers>;
  readonly usr: Maybe<MergedUsr>;
  readonly log: Maybe<KubeletLog>;
  readonly watched: readonly WatchedDeletion[];
}
