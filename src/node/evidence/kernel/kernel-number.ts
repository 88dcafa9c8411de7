import type { Snapshot } from '../../model/evidence.ts';
import type { Proof } from '../../model/finding.ts';
import type { KernelFile } from '../../model/kernel-use.ts';
import { ReadError } from '../../model/node-reader.ts';

export interface KernelNumber {
  readonly value: number;
  readonly proof: Proof;
}

export async function kernelNumber(
  { node }: Pick<Snapshot, 'node'>,
  file: KernelFile,
): Promise<KernelNumber> {
  const { path, pattern } = file;
  const number = kernelNumberIn(await node.ask('file', { path }), file);
  if (number) return number;
  const why = pattern ? 'not in the expected form' : 'not a number';
  throw new ReadError('malformed', path, why);
}

/** The number in the text of a file; undefined if it has none. */
export function kernelNumberIn(
  text: string,
  { path, claim, pattern = /^(\d+)$/ }: KernelFile,
): KernelNumber | undefined {
  const [line, digits] = pattern.exec(text.trim()) ?? [];
  if (line === undefined || digits === undefined) return undefined;
  return { value: Number(digits), proof: { claim, text: line, origin: { file: path } } };
}
