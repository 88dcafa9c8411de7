import type { Snapshot } from '../../model/evidence.ts';
import type { Proof } from '../../model/finding.ts';
import { ReadError } from '../../model/node-reader.ts';

export interface KernelNumber {
  readonly value: number;
  readonly proof: Proof;
}

/** Where the kernel shows a number, such as a sysctl. */
export interface KernelFile {
  readonly path: string;
  readonly claim: string;
  /** Its first group is the number, where the file has more than that. */
  readonly pattern?: RegExp;
}

export async function kernelNumber(
  { node }: Pick<Snapshot, 'node'>,
  { path, claim, pattern = /^(\d+)$/ }: KernelFile,
): Promise<KernelNumber> {
  const text = (await node.ask('file', { path })).trim();
  const [line, digits] = pattern.exec(text) ?? [];
  if (digits === undefined) throw new ReadError('malformed', path, 'not a number');
  return { value: Number(digits), proof: { claim, text: line ?? text, origin: { file: path } } };
}
