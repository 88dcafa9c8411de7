import type { Snapshot } from '../../model/evidence.ts';
import type { Proof } from '../../model/finding.ts';
import { ReadError } from '../../model/node-reader.ts';

export interface KernelNumber {
  readonly value: number;
  readonly proof: Proof;
}

/** A kernel file that contains a number, such as a sysctl. */
export interface KernelFile {
  readonly path: string;
  readonly claim: string;
  /**
   * Selects one of several numbers in the file: the first group, as in `/^(\d+)\s+\d+$/`. The proof
   * quotes what the whole pattern matches.
   */
  readonly pattern?: RegExp;
}

export async function kernelNumber(
  { node }: Pick<Snapshot, 'node'>,
  { path, claim, pattern }: KernelFile,
): Promise<KernelNumber> {
  const text = (await node.ask('file', { path })).trim();
  const [line, digits] = (pattern ?? /^(\d+)$/).exec(text) ?? [];
  if (digits === undefined) {
    const why = pattern ? 'not in the expected form' : 'not a number';
    throw new ReadError('malformed', path, why);
  }
  return { value: Number(digits), proof: { claim, text: line ?? text, origin: { file: path } } };
}
