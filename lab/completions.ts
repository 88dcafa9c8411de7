import { caseName } from './break.ts';
import { breaks } from './breaks/index.ts';
import { labNames } from './known-labs.ts';

/** Shell completions of `kubediag lab`. */
export const labCompletions = {
  variantsOf: (fault: string): readonly string[] =>
    breaks
      .filter((each) => each.kind === 'fault' && each.fault === fault)
      .map(({ variant }) => variant),
  lookAlikes: (): readonly string[] =>
    breaks.filter(({ kind }) => kind === 'look-alike').map(({ variant }) => variant),
  cases: (): readonly string[] => breaks.map(caseName),
  /** Empty if listing the nodes needs root. */
  nodes: async (): Promise<readonly string[]> => {
    try {
      return await labNames();
    } catch {
      return [];
    }
  },
};
