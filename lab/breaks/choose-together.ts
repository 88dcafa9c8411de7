import { type Break, titleOf } from '../break.ts';
import type { LabSettings } from '../settings.ts';
import { versionWith } from './kubelet-habits.ts';

/** A requested break: in this variant, or in any. */
export interface RequestedBreak {
  readonly kind: Break['kind'];
  readonly fault: string;
  readonly variant?: string;
}

/** The earlier breaks of a node, and its settings. */
interface Had {
  readonly made: readonly Break[];
  readonly settings: LabSettings;
}

/**
 * The requested breaks, in an order in which they can follow the earlier ones. A request without a
 * variant gets the first that fits the others. Throws a Refusal if there is none.
 */
export function chooseTogether(
  all: readonly Break[],
  asked: readonly RequestedBreak[],
  { made, settings }: Had,
): readonly Break[] {
  const why = whyNotBeside(asked, made);
  if (why !== undefined) throw new Error(why);
  const possible = asked.map((each) => formsOf(all, each, settings));
  const chosen = combination(possible, made, settings);
  if (!chosen) throw new Error(whyNotOneKubelet(made, possible, settings));
  // A break that stops the kubelet comes last: later breaks would wait for pods in vain.
  return chosen.toSorted((one, other) => turnOf(one) - turnOf(other));
}

function turnOf({ stopsPods }: Break): number {
  return [undefined, 'hung', 'stopped'].indexOf(stopsPods);
}

function whyNotBeside(
  asked: readonly RequestedBreak[],
  made: readonly Break[],
): string | undefined {
  const alike = [...made, ...asked].find(({ kind }) => kind === 'look-alike');
  if (alike && made.length + asked.length > 1) {
    const has = made.map(titleOf).join(' and ');
    return `${has === '' ? '' : `it has ${has}; `}a look-alike is made alone`;
  }
  const twice = asked.find(
    ({ fault }, at) => asked.findIndex((each) => each.fault === fault) !== at,
  );
  if (twice) return `${twice.fault} is named twice, and all its variants use the same pods`;
  const before = made.find(({ fault }) => asked.some((each) => each.fault === fault));
  if (before) return `it has ${titleOf(before)} already, and all variants use the same pods`;
  const last = made.find(({ stopsPods }) => stopsPods !== undefined);
  if (!last) return undefined;
  const names = [...asked, ...made].map(({ fault }) => fault).join(' ');
  return (
    `its kubelet starts no pod because of ${titleOf(last)}; ` +
    `after a heal all of them can be made at once: kubediag lab break ${names}`
  );
}

function formsOf(
  all: readonly Break[],
  { kind, fault, variant }: RequestedBreak,
  settings: LabSettings,
): readonly Break[] {
  // A variant that is harmless under its kubelet is made only on request.
  const isMeant = (each: Break) =>
    variant === undefined ? each.expected.verdict === 'found' : each.variant === variant;
  const known = all.filter((each) => each.kind === kind && each.fault === fault && isMeant(each));
  const forms = known.filter((each) => each.leftOut?.(settings) === undefined);
  if (forms.length > 0) return forms;
  const why = known[0]?.leftOut?.(settings);
  throw new Error(why ?? `there is no ${kind} ${fault} ${variant ?? ''}`.trimEnd());
}

/** The first combination of variants that fit each other. */
function combination(
  [forms, ...rest]: readonly (readonly Break[])[],
  made: readonly Break[],
  settings: LabSettings,
): readonly Break[] | undefined {
  if (forms === undefined) return [];
  // Variants that need the same kubelet fit the same others.
  const different = forms.filter(
    ({ kubelet }, at) => forms.findIndex((each) => each.kubelet === kubelet) === at,
  );
  for (const form of different) {
    const beside = [...made, form];
    if (!haveOneKubelet(beside, settings)) continue;
    const others = combination(rest, beside, settings);
    if (others) return [form, ...others];
  }
  return undefined;
}

/** With a real kubelet, impossible breaks are left out earlier. */
function haveOneKubelet(breaks: readonly Break[], { kubelet }: LabSettings): boolean {
  const habits = breaks.flatMap((each) => each.kubelet ?? []);
  return kubelet.kind === 'real' || versionWith(habits, kubelet.version) !== undefined;
}

function whyNotOneKubelet(
  made: readonly Break[],
  possible: readonly (readonly Break[])[],
  settings: LabSettings,
): string {
  const groups = [...made.map((each) => [each]), ...possible];
  for (const [at, group] of groups.entries()) {
    for (const other of groups.slice(at + 1)) {
      if (combination([group, other], [], settings)) continue;
      const [one, two] = [group[0], other[0]];
      if (one?.kubelet && two?.kubelet) {
        return (
          `${titleOf(one)} needs a kubelet that ${one.kubelet.about}, and ${titleOf(two)} one that ` +
          `${two.kubelet.about}: no kubelet does both`
        );
      }
    }
  }
  return 'no kubelet has all of these faults';
}
