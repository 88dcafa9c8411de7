import { unloggedContainers } from '../../evidence/containers/unlogged-containers.ts';
import { isRelative, removesContainerLog } from '../../evidence/deletions/deletion-trace.ts';
import { mergedUsr } from '../../evidence/deletions/merged-usr.ts';
import { watchedDeletions } from '../../evidence/deletions/watched-deletions.ts';
import { kubelet } from '../../evidence/kubelet/kubelet.ts';
import { kubeletVersion } from '../../evidence/kubelet/kubelet-version.ts';
import { kubeletLog } from '../../evidence/logs/kubelet-log.ts';
import { optional } from '../../model/evidence.ts';
import { defineFault } from '../../model/fault.ts';
import { diagnose } from './diagnose.ts';
import { LOG_PATH_EMPTY, LOG_SIGNATURES, REMOVE_RELATIVE_LOG } from './log-lines.ts';
import { reasons } from './messages.ts';
import { hasHealed, recover } from './recover.ts';

export const containerWithoutLogPath = defineFault({
  id: 'container-without-log-path',
  title: 'A container without a log path makes the kubelet delete its own working directory',
  severity: 'broken',
  stage: 'stable',
  references: [
    'https://github.com/kubeedge/kubeedge/issues/4778',
    'https://github.com/kubernetes/kubernetes/pull/93333',
  ],
  affected: [
    {
      component: 'kubelet',
      versions: '1.17.12 and newer of 1.17, 1.18.9 and newer of 1.18, 1.19.0 and newer',
      behaviour: 'deletes files, links and empty directories of its working directory, /bin first',
    },
    {
      component: 'edgecore',
      versions: 'KubeEdge 1.10 and newer',
      behaviour: 'the same; keadm of 1.10 to 1.14 made such a container for its MQTT broker',
    },
    {
      component: 'kubelet',
      versions: 'up to 1.16, 1.17.0 to 1.17.11, 1.18.0 to 1.18.8',
      behaviour: 'removes exactly the log path, and so nothing: harmless',
    },
  ],
  reasons,
  needs: {
    kubelet: optional(kubelet),
    version: optional(kubeletVersion),
    // One of these two proves it; what is unknown without the other is reported.
    unlogged: optional(unloggedContainers),
    log: optional(kubeletLog),
    usr: optional(mergedUsr),
    watched: watchedDeletions,
  },
  logSignatures: LOG_SIGNATURES,
  suspicions: { quoted: [REMOVE_RELATIVE_LOG.id, LOG_PATH_EMPTY.id] },
  deletion: {
    isCause: (name, stack) => isRelative(name) && removesContainerLog(stack),
    why: [
      'the kubelet removes a container that has no log path, and mistakes',
      'the entries of its own working directory for its log',
    ],
  },
  diagnose,
  recover,
  hasHealed,
  healedMeans: 'no such container is left',
  before: [
    {
      fault: 'kubelet-not-running',
      on: 'node',
      why: 'a kubelet that starts collects such a container, and deletes files of the node',
    },
  ],
});
