import { EXIT } from '../../../lib/terminal/terminal.ts';
import { findingId } from '../../../node/checkup/judge-faults.ts';
import type { CheckResult } from '../../../node/checkup/run-check.ts';
import type { AnyFault } from '../../../node/model/fault.ts';
import { type Finding, isActive } from '../../../node/model/finding.ts';
import type { Unknown } from '../../../node/model/verdict.ts';
import { groupedAlike } from '../screens/alike-findings.ts';
import type { RecoverOptions } from './recovery-run.ts';

type Seen = Pick<CheckResult, 'report' | 'judged'>;

/** What the person asked for: one finding, all, or all that --yes covers. */
type Asked = Pick<RecoverOptions, 'finding' | 'yes' | 'latent'>;

export interface ChosenFindings {
  /** To be repaired, or to ask about. */
  readonly taken: readonly Finding[];
  /** Latent ones that --yes alone leaves. */
  readonly latent: readonly Finding[];
  /** Found, but only a person can go on from here. */
  readonly manual: readonly Finding[];
  /** What could not be judged beside these. */
  readonly unknowns: readonly Unknown[];
}

/** Nothing was found; with unknowns, because it could not be judged. */
interface NothingFound {
  readonly nothing: string;
  readonly unknowns: readonly Unknown[];
  readonly code: number;
}

type Chosen = ChosenFindings | NothingFound;

/** What to recover from: the named finding, or all that the check found and nobody calls benign. */
export function chooseFindings(fault: AnyFault, checked: Seen, asked: Asked): Chosen {
  const verdict = checked.judged[0]?.verdict;
  const findings = openFindings(verdict?.findings ?? []);
  const unknowns = verdict?.unknowns ?? [];
  if (asked.finding !== undefined) return chooseNamed(fault, findings, asked.finding);
  if (findings.length > 0) {
    const ours = findings.filter((each) => hasRepair(fault, each));
    const isTaken = (finding: Finding) => !asked.yes || asked.latent || isActive(finding);
    return {
      taken: ours.filter(isTaken),
      latent: ours.filter((each) => !isTaken(each)),
      manual: findings.filter((each) => !hasRepair(fault, each)),
      unknowns,
    };
  }
  if (unknowns.length > 0) {
    const what = `unknown: ${fault.id} could not be judged, so nothing is done about it`;
    return { nothing: `${what}\n`, unknowns, code: EXIT.unknown };
  }
  const nothing = `${fault.id} is clear on this node: nothing to do\n`;
  return { nothing, unknowns, code: EXIT.clear };
}

/** All but the benign ones, which nobody needs to repair. */
export function openFindings(findings: readonly Finding[]): readonly Finding[] {
  return findings.filter(({ state }) => state !== 'benign');
}

export function hasRepair(fault: AnyFault, finding: Finding): boolean {
  return (fault.recover?.(finding).actions.length ?? 0) > 0;
}

function chooseNamed(fault: AnyFault, findings: readonly Finding[], name: string): Chosen {
  const named = findings.find((finding) => findingId(fault, finding) === name);
  // The order of the screen, which has those alike together.
  const shown = groupedAlike(findings, (each) => ({ ...each, isOurs: hasRepair(fault, each) }));
  const placed = isPosition(name) ? shown.flat()[Number(name) - 1] : undefined;
  const finding = named ?? placed;
  if (finding) {
    const [taken, manual] = hasRepair(fault, finding) ? [[finding], []] : [[], [finding]];
    return { taken, latent: [], manual, unknowns: [] };
  }
  const ids = findings.map((each) => findingId(fault, each));
  return { nothing: noSuchFinding(name, ids, fault.id), unknowns: [], code: EXIT.notDone };
}

/** A small number is the position on the screen of `check FAULT`. */
export function isPosition(name: string): boolean {
  return /^[1-9]\d?$/.test(name);
}

export function noSuchFinding(name: string, ids: readonly string[], fault = ''): string {
  const now = ids.length > 0 ? `now there are: ${ids.join(', ')}` : 'now there is none';
  const command = `kubediag check ${fault}`.trimEnd();
  return `refused: there is no finding ${JSON.stringify(name)}\n  why   ${now}; it may be gone, or remade\n  do    ${command}\n`;
}
