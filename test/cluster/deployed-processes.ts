import { allProcesses, procFile } from '../../lab/process-mark.ts';
import type { ClusterNode } from '../../tools/cluster/node.ts';

export type AgentRole = 'agent' | 'executor';
export type DeployedRole = AgentRole | 'controller';

/** The agent and the executor of a node of this cluster: another cluster may have a node of this name. */
export function deployedProcesses(
  node: Pick<ClusterNode, 'pid'>,
  roles: readonly DeployedRole[] = ['agent', 'executor'],
): readonly number[] {
  return allProcesses().filter((pid) => {
    const [program = '', command = ''] = procFile(pid, 'cmdline').split('\0');
    const isOurs = program.endsWith('kubediag') && roles.some((role) => role === command);
    return isOurs && isBelow(pid, node.pid);
  });
}

function isBelow(pid: number, above: number): boolean {
  const parent = parentOf(pid);
  return parent === above || (parent > 1 && isBelow(parent, above));
}

/** 0 if the process has ended. */
export function parentOf(pid: number): number {
  // 812 (kubediag) S 811 812 812
  return Number(/[)] \S (\d+)/.exec(procFile(pid, 'stat'))?.[1] ?? 0);
}
