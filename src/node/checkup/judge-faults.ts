import { shortHash } from '../../lib/std/short-hash.ts';
import { containers, type Sandbox } from '../evidence/containers/containers.ts';
import { kubelet } from '../evidence/kubelet/kubelet.ts';
import { pods } from '../evidence/pods/pods.ts';
import { attempt, type Collected, type Needs, type Snapshot } from '../model/evidence.ts';
import type { AnyFault, Fault } from '../model/fault.ts';
import { FINDING_STATES, type Finding, type Subject } from '../model/finding.ts';
import { type Unknown, unknownFrom, type Verdict, verdictOf } from '../model/verdict.ts';

/** One fault and what was found of it on this node. */
export interface Judged {
  readonly fault: AnyFault;
  readonly verdict: Verdict;
}

/** The pod a person asked about; findings of others are left out. */
export interface PodName {
  readonly namespace: string;
  readonly name: string;
}

/** Asks each fault for its verdict on a node. A read that fails ends as `unknown`, never as `clear`. */
export async function judgeFaults(
  faults: readonly AnyFault[],
  snapshot: Snapshot,
  only?: PodName,
): Promise<readonly Judged[]> {
  const standing = [
    ...(await contradictions(snapshot)),
    ...(only ? await otherPodUnknowns(snapshot, only) : []),
  ];
  const judged: Judged[] = [];
  for (const fault of faults) {
    const asked = fault.affectsWholeNode ? undefined : only;
    judged.push({ fault, verdict: narrowed(await judge(fault, snapshot), asked, standing) });
  }
  return judged;
}

/** Where we may have the wrong kubelet before us, no fault is called clear. */
async function contradictions(snapshot: Snapshot): Promise<readonly Unknown[]> {
  const here = await attempt(snapshot.of(kubelet));
  const why = here.known ? here.value.contradiction : undefined;
  return why === undefined ? [] : [{ why }];
}

/** A pod that is not here must not be reported as clear. */
async function otherPodUnknowns(snapshot: Snapshot, only: PodName): Promise<readonly Unknown[]> {
  const listed = await attempt(snapshot.of(pods));
  const held = await attempt(snapshot.of(containers));
  const names = [
    ...(listed.known ? listed.value.pods : []),
    ...(held.known ? held.value.sandboxes.map(podOfSandbox) : []),
  ];
  const isHere = names.some(
    ({ namespace, name }) => namespace === only.namespace && name === only.name,
  );
  return isHere ? [] : [{ why: `no pod ${only.namespace}/${only.name} was seen on this node` }];
}

function podOfSandbox({ podNamespace, podName }: Sandbox): PodName {
  return { namespace: podNamespace, name: podName };
}

async function judge(fault: Fault, snapshot: Snapshot): Promise<Verdict> {
  const evidence = await attempt(collect(fault.needs, snapshot));
  if (!evidence.known) return verdictOf({ findings: [], unknowns: [unknownFrom(evidence)] });
  return fault.diagnose(evidence.value);
}

/** All that a fault needs to judge; rejects when something it cannot do without was not answered. */
export async function collect<N extends Needs>(
  needs: N,
  snapshot: Snapshot,
): Promise<Collected<N>> {
  const pairs = await Promise.all(
    Object.entries(needs).map(async ([name, need]) => {
      if (!('optional' in need)) return [name, await snapshot.of(need)] as const;
      return [name, await attempt(snapshot.of(need.optional))] as const;
    }),
  );
  return Object.fromEntries(pairs) as Collected<N>;
}

function narrowed(
  verdict: Verdict,
  only: PodName | undefined,
  standing: readonly Unknown[],
): Verdict {
  const isAsked = (subject: Subject) =>
    !only || (subject.namespace === only.namespace && subject.pod === only.name);
  const findings = verdict.findings
    .filter(({ subject }) => isAsked(subject))
    .toSorted((left, right) => rank(left) - rank(right));
  return verdictOf({
    ...verdict,
    findings,
    unknowns: [
      ...standing,
      ...verdict.unknowns.filter(({ subject }) => !subject || isAsked(subject)),
    ],
  });
}

function rank({ state }: Finding): number {
  return FINDING_STATES.indexOf(state);
}

/** When the first of the verdicts changes by time alone; undefined if none does. */
export function checkAgainInMs(judged: readonly Judged[]): number | undefined {
  const times = judged.flatMap(({ verdict }) => verdict.checkAgainInMs ?? []);
  return times.length === 0 ? undefined : Math.min(...times);
}

/** The same subject of the same fault has the same id in every check. */
export function findingId(fault: Pick<AnyFault, 'id' | 'identifiedBy'>, { pins }: Finding): string {
  const FINDING_ID_DIGITS = 6;
  const parts = Object.entries(pins)
    .filter(([name]) => fault.identifiedBy?.includes(name) ?? true)
    .toSorted(([left], [right]) => (left < right ? -1 : 1));
  return shortHash(JSON.stringify([fault.id, parts]), FINDING_ID_DIGITS);
}
