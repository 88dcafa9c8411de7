import { defined } from '../../src/lib/std/defined.ts';
import type { Break } from '../break.ts';
import { lacks } from './kubelet-habits.ts';

/** One way to make a fault. */
export type Variant = Omit<Break, 'kind' | 'fault'>;

/** The variants of a fault. A real kubelet without the needed behaviour cannot have a variant. */
export function faultsOf(fault: string, variants: readonly Variant[]): readonly Break[] {
  return variants.map((each) => {
    const { kubelet, leftOut = kubelet && lacks(kubelet) } = each;
    return { kind: 'fault', fault, ...defined({ ...each, leftOut }) };
  });
}

/** Something that resembles a fault and must not be reported. */
export interface LookAlike
  extends Pick<Break, 'variant' | 'about' | 'kubelet' | 'leftOut' | 'make'> {
  readonly state?: 'benign';
}

export function lookAlikesOf(fault: string, lookAlikes: readonly LookAlike[]): readonly Break[] {
  return lookAlikes.map(({ state, leftOut, ...each }) => ({
    ...{ kind: 'look-alike', fault, ...each },
    expected: defined({ verdict: 'clear', repair: 'none', state }),
    leftOut: (settings) => (each.kubelet && lacks(each.kubelet)(settings)) ?? leftOut?.(settings),
  }));
}
