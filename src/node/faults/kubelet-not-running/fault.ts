import { kubeletService } from '../../evidence/services/kubelet-service.ts';
import { defineFault } from '../../model/fault.ts';
import { diagnose } from './diagnose.ts';
import { reasons } from './end.ts';

export const kubeletNotRunning = defineFault({
  id: 'kubelet-not-running',
  title: 'The kubelet of this node does not run',
  severity: 'broken',
  stage: 'stable',
  isFirst: true,
  isCurrentState: true,
  affectsWholeNode: true,
  references: [
    'https://kubernetes.io/docs/tasks/debug/debug-cluster/',
    'https://kubernetes.io/docs/setup/production-environment/tools/kubeadm/kubelet-integration/',
  ],
  affected: [
    { component: 'kubelet', versions: 'all', behaviour: 'starts no pod while it is down' },
  ],
  reasons,
  needs: { service: kubeletService },
  diagnose,
});
