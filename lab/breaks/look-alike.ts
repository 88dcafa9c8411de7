import type { Break } from '../break.ts';
import { type Habit, lacks, takeOn } from './kubelet-habits.ts';

/** Something that resembles a fault and must not be reported. */
export type Resemblance = Pick<Break, 'variant' | 'about' | 'leftOut' | 'make'>;

/** The look-alike of a fault, under a kubelet with this behaviour. */
export function lookAlikeUnder(
  habit: Habit,
  fault: string,
  { variant, about, leftOut, make }: Resemblance,
  more: Parameters<typeof takeOn>[2] = {},
): Break {
  return {
    ...{ kind: 'look-alike', fault, variant, about },
    expected: { verdict: 'clear', repair: 'none' },
    leftOut: (settings) => lacks(habit)(settings) ?? leftOut?.(settings),
    make: async (node) => {
      takeOn(habit, node, more);
      await make(node);
    },
  };
}
