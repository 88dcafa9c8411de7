import type { OperationResult, StepInput } from './operation-result.ts';
import type { OwnProcessor } from './own-processor.ts';

/** The result, with a word on what somebody gave and nothing here uses: they may rely on it. */
export function noteUnused(
  { unused = {}, writes }: Pick<OwnProcessor, 'unused' | 'writes'>,
  input: StepInput,
  result: OperationResult,
): OperationResult {
  const given = Object.entries(unused).filter(([key]) => input[key]);
  if (given.length === 0) return result;
  const text = given.map(([key, why]) => `${key} is not used: ${why}`).join('; ');
  if (!result.succeeded) return { ...result, message: `${result.message}; ${text}` };
  return { ...result, results: { ...result.results, [`${writes[0]}.note`]: text } };
}
