import type { ExamNode } from './exam-node.ts';
import type { Checked } from './judge.ts';
import { CHECK_MS } from './limits.ts';

/** Has the node checked, with a report for programs. */
export async function checkNode(node: Pick<ExamNode, 'kubediag'>): Promise<Checked> {
  const { code, stdout, stderr } = await node.kubediag(['check', '-o', 'json'], CHECK_MS);
  if (!stdout.startsWith('{')) throw new Error(`check gave no report: ${stdout}${stderr}`.trim());
  return { code, report: JSON.parse(stdout) as unknown };
}
