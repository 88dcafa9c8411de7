import { leftoverFolders } from '../../evidence/volumes/leftover-folders.ts';
import { minimumAge } from '../../evidence/volumes/minimum-age.ts';
import { teardownLog } from '../../evidence/volumes/teardown-log.ts';
import { optional } from '../../model/evidence.ts';
import { defineFault, type LooseText } from '../../model/fault.ts';
import { diagnose } from './diagnose.ts';
import { reasons } from './messages.ts';
import { hasHealed, recover } from './recover.ts';

export const leftoverVolumeDirectory = defineFault({
  id: 'leftover-volume-directory',
  title: 'Unmounted volumes left directories behind',
  severity: 'degraded',
  stage: 'stable',
  references: [
    'https://github.com/kubernetes/kubernetes/issues/43534',
    'https://github.com/kubernetes/kubernetes/pull/43878',
  ],
  affected: [
    {
      component: 'kubelet',
      versions: '1.6.x and older, built with Go 1.8 or newer',
      behaviour: 'leaves one more directory at each teardown of an emptyDir, Secret or ConfigMap',
    },
    {
      component: 'FlexVolume and other plugins that rename before they delete',
      versions: 'any',
      behaviour: 'leave one more directory at each teardown that fails',
    },
    {
      component: 'kubelet',
      versions: '1.9.x and older',
      behaviour: 'takes each leftover for a volume every three minutes: pods start and end slowly',
    },
    {
      component: 'kubelet',
      versions: '1.10.0 and newer',
      behaviour: 'does so once, at its start',
    },
    {
      component: 'kubelet',
      versions: '1.20.10, 1.21.4, 1.22.0 and newer',
      behaviour: 'removes empty ones of orphaned pods by itself',
    },
  ],
  reasons,
  identifiedBy: ['podUid', 'plugin', 'path'],
  needs: {
    leftovers: optional(leftoverFolders),
    log: optional(teardownLog),
  },
  options: [minimumAge],
  suspicions: { quoted: ['rename-failed', 'leftover-volume'], listing: listedLeftover },
  diagnose,
  recover,
  hasHealed,
  healedMeans: 'no leftover directory has come back',
});

// pvc-f39e86b9-019b-11e8.deleting~859156558
const LEFTOVER = /\.deleting~\d{1,10}\/?$/;

// /var/lib/kubelet/pods/612f2e76-.../volumes/transwarp.io~tosdisk/pvc-f39e.deleting~859156558/lost+found
const LEFTOVER_PATH = /\/pods\/[^/]+\/volumes\/[^/]+\/[^/]+\.deleting~\d{1,10}(?:\/|$)/;

/** The name of a directory alone does not show its age, its content and its mounts. */
function listedLeftover({ names, paths }: LooseText): string | undefined {
  const placed = paths.find((path) => LEFTOVER_PATH.test(path));
  if (placed !== undefined) return `lists ${placed}, but not how long it has been there`;
  const bare = names.find((name) => LEFTOVER.test(name));
  return bare === undefined ? undefined : `lists ${bare}, but not in which directory`;
}
