import {
  collectContainers,
  collectMountTable,
  collectPodDetail,
  collectPodList,
} from './node-collectors.ts';
import type { OperationResult, StepInput } from './operation-result.ts';
import type { ProcessorHost } from './processor-host.ts';
import { diagnoseSubpathRemount, recoverSubpathRemount } from './subpath-remount.ts';

/** A processor of our own. */
export interface OwnProcessor {
  /** As every KubeDiag knows it. */
  readonly path: string;
  /** Under which name an Operation of it is there when no manifest defines one. */
  readonly operation: string;
  /** Whether it may change the node. */
  readonly repairs: boolean;
  readonly run: (input: StepInput, host: ProcessorHost) => Promise<OperationResult>;
}

export const processors: readonly OwnProcessor[] = [
  {
    path: '/processor/podListCollector',
    operation: 'pod-list-collector',
    repairs: false,
    run: collectPodList,
  },
  {
    path: '/processor/podDetailCollector',
    operation: 'pod-detail-collector',
    repairs: false,
    run: collectPodDetail,
  },
  {
    path: '/processor/containerCollector',
    operation: 'container-collector',
    repairs: false,
    run: collectContainers,
  },
  {
    path: '/processor/mountInfoCollector',
    operation: 'mount-info-collector',
    repairs: false,
    run: collectMountTable,
  },
  {
    path: '/processor/subpathRemountDiagnoser',
    operation: 'subpath-remount-diagnoser',
    repairs: false,
    run: diagnoseSubpathRemount,
  },
  {
    path: '/processor/subpathRemountRecover',
    operation: 'subpath-remount-recover',
    repairs: true,
    run: recoverSubpathRemount,
  },
];
