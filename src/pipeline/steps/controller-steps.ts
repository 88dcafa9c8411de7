import type { Processor } from '../api/processor-of.ts';
import { isOwnPath } from './run-server.ts';

/** Built-in steps that need rights at the API server, which no agent has: on a cluster the controller runs them. */
export const CONTROLLER_STEPS = {
  nodeCordon: {
    path: '/processor/nodeCordon',
    operation: 'node-cordon',
    result: 'recover.kubernetes.node_cordon.result.name',
  },
  statefulsetDetail: {
    path: '/processor/statefulsetDetailCollector',
    operation: 'statefulset-detail-collector',
    name: 'collector.kubernetes.statefulset.name',
    namespace: 'collector.kubernetes.statefulset.namespace',
    result: 'collector.kubernetes.statefulset.detail.result',
  },
  statefulsetStuck: {
    path: '/processor/statefulsetStuck',
    operation: 'statefulset-stuck',
    result: 'recover.kubernetes.statefulset_stuck.result',
    bugLink: 'recover.kubernetes.statefulset_stuck.bug_link',
  },
} as const;

export type ControllerStep = keyof typeof CONTROLLER_STEPS;

const NAMES = Object.keys(CONTROLLER_STEPS) as readonly ControllerStep[];

/** Undefined: an agent runs it. */
export function controllerStepOf(processor: Processor): ControllerStep | undefined {
  if (processor.way !== 'http' || !isOwnPath(processor)) return undefined;
  // /processor/nodeCordon?x=1
  const [path] = processor.path.split('?');
  return NAMES.find((name) => CONTROLLER_STEPS[name].path === path);
}
