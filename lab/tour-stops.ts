import type { Break } from './break.ts';
import { breaks } from './breaks/index.ts';
import type { Habit } from './breaks/kubelet-habits.ts';
import { caseName } from './exam/cases.ts';

/** One fault on the tour, as its break declares it. */
export type TourStop = NonNullable<Break['tour']> & {
  /** The name of the case: "stale-subpath-mount/configmap-active". */
  readonly case: string;
  /** Which kubelets have the fault. */
  readonly kubelet: Habit;
};

export const TOUR_STOPS: readonly TourStop[] = breaks.flatMap((each) => {
  const { tour, kubelet } = each;
  return tour && kubelet ? [{ ...tour, case: caseName(each), kubelet }] : [];
});
