import { breaks } from './breaks/index.ts';
import { caseName } from './exam/cases.ts';
import { labNames } from './known-labs.ts';

/** What somebody may type after `kubediag lab`, for the completion of their shell. */
export const labCompletions = {
  /** The forms in which a fault can be made. */
  variantsOf: (fault: string): readonly string[] =>
    breaks.filter((each) => each.kind === 'fault' && each.fault === fault).map(variantOf),
  lookAlikes: (): readonly string[] =>
    breaks.filter(({ kind }) => kind === 'look-alike').map(variantOf),
  cases: (): readonly string[] => breaks.map(caseName),
  /** None where they cannot be listed: a completion asks nobody to become root. */
  nodes: async (): Promise<readonly string[]> => {
    try {
      return await labNames();
    } catch {
      return [];
    }
  },
};

function variantOf({ variant }: { readonly variant: string }): string {
  return variant;
}
