import type { ExamNode } from './exam-node.ts';
import type { Checked } from './judge.ts';
import { CHECK_MS } from './limits.ts';

/** Runs a check on the node, with a report as JSON. */
export async function checkNode(node: Pick<ExamNode, 'kubediag'>): Promise<Checked> {
  const { code, stdout, stderr } = await node.kubediag(['check', '-o', 'json'], CHECK_MS);
  if (!stdout.startsWith('{'))
    throw new Error(`check printed no report: ${stdout}${stderr}`.trim());
  return { code, report: JSON.parse(stdout) as unknown };
}
