import type { UnloggedContainers } from '../../evidence/containers/unlogged-containers.ts';
import type { MergedUsr } from '../../evidence/deletions/merged-usr.ts';
import type { WatchedDeletion } from '../../evidence/deletions/watched-deletions.ts';
import type { Kubelet } from '../../evidence/kubelet/kubelet.ts';
import type { KubeletVersion } from '../../evidence/kubelet/kubelet-version.ts';
import type { KubeletLog } from '../../evidence/logs/log-entries.ts';
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
