import type { Snapshot } from '../../model/evidence.ts';
import type { Proof } from '../../model/finding.ts';
import { ReadError } from '../../model/node-reader.ts';

export interface KernelNumber {
  readonly value: number;
  readonly proof: Proof;
}

/** A number that the kernel shows in a file of its own, such as a sysctl. */
export async function kernelNumber(
  { node }: Pick<Snapshot, 'node'>,
  path: string,
  claim: string,
): Promise<KernelNumber> {
  const text = (await node.ask('file', { path })).trim();
  if (!/^\d+$/.test(text)) throw new ReadError('malformed', path, 'not a number');
  return { value: Number(text), proof: { claim, text, origin: { file: path } } };
}
