import { cutText } from '../../../lib/std/cut-text.ts';
import { printable } from '../../../lib/std/printable.ts';
import type { Judged } from '../../../node/checkup/judge-faults.ts';
import type { FaultReport, FindingReport, Report } from '../../../node/checkup/report.ts';
import { FINDING_STATES, type Step, type Subject } from '../../../node/model/finding.ts';
import { REPORTED_PROOF_MAX, REPORTED_TEXT_MAX } from '../../../pipeline/api/limits.ts';
import {
  CHECKED_DETAILS_MAX,
  CHECKED_FAULTS_MAX,
  CHECKED_FINDINGS_MAX,
  CHECKED_UNKNOWNS_OF_FAULT_MAX,
} from '../../../pipeline/channel/limits.ts';
import type { CheckedFinding, NodeCheck } from '../../../pipeline/channel/node-check.ts';

/** What an agent gets of a check: as much as fits into its message, the worst first. */
export function nodeCheckOf(
  { node, faults }: Report,
  judged: readonly Judged[],
  kubediagVersion: string,
  time: Date,
): NodeCheck {
  const found = faults.flatMap(harmfulOf).toSorted((left, right) => rank(left) - rank(right));
  const listed = found.slice(0, CHECKED_FINDINGS_MAX);
  const cut = found.slice(CHECKED_FINDINGS_MAX);
  const { kubelet, runtime } = node;
  return {
    time: time.toISOString(),
    durationMs: node.tookMs,
    ...(kubelet.version === undefined ? {} : { kubeletVersion: line(kubelet.version) }),
    ...(runtime ? { runtimeVersion: line(`${runtime.name}://${runtime.version}`) } : {}),
    kubediagVersion,
    // In the order of all faults, not in that of the report: the agent sorts findings by it.
    faults: judged.slice(0, CHECKED_FAULTS_MAX).map(({ fault: { id }, verdict }) => {
      const notListed = cut.filter(({ fault }) => fault === id).length;
      return {
        fault: id,
        verdict: verdict.state,
        benign: verdict.findings.filter(({ state }) => state === 'benign').length,
        ...(notListed > 0 ? { notListed } : {}),
      };
    }),
    findings: listed.map(({ detail, ...finding }, index) =>
      index < CHECKED_DETAILS_MAX ? { ...finding, detail } : finding,
    ),
    unknowns: judged.slice(0, CHECKED_FAULTS_MAX).flatMap(unknownsOf),
  };
}

type DetailedFinding = Required<CheckedFinding>;

function harmfulOf({ name, findings }: FaultReport): readonly DetailedFinding[] {
  return findings.flatMap(({ state, ...finding }) =>
    state === 'benign' ? [] : [{ fault: name, id: finding.id, state, detail: detailOf(finding) }],
  );
}

function detailOf({
  reason,
  summary,
  subject,
  proof,
  actions,
  alternatives,
}: Omit<FindingReport, 'state'>): DetailedFinding['detail'] {
  const manualStep = manualStepOf(alternatives);
  return {
    reason: line(reason),
    summary: line(summary),
    subject: subjectOf(subject),
    ...(actions.length === 0 && manualStep ? { manualStep: line(manualStep) } : {}),
    proof: proof.slice(0, REPORTED_PROOF_MAX).map(({ claim, text, origin }) => ({
      claim: line(claim),
      ...(text === undefined ? {} : { text: line(text) }),
      origin: line(origin),
    })),
  };
}

/** The first step, after the risk that is listed before the steps. */
function manualStepOf(alternatives: readonly Step[]): string | undefined {
  const texts = alternatives.map(({ text, command }) =>
    [text, command].filter((part) => part !== undefined).join(' '),
  );
  const risk = texts.find((text) => text.startsWith('risk: '));
  const step = texts.find((text) => text !== risk);
  return risk !== undefined && step !== undefined ? `${step} (${risk})` : (step ?? risk);
}

function subjectOf(subject: Subject): Subject {
  const fields = Object.entries(subject as Readonly<Record<string, string>>);
  return Object.fromEntries(fields.map(([name, value]) => [name, line(value)] as const));
}

function rank({ state }: Pick<CheckedFinding, 'state'>): number {
  return FINDING_STATES.indexOf(state);
}

function unknownsOf({ fault, verdict }: Judged): NodeCheck['unknowns'] {
  const all = verdict.unknowns.map(({ why, subject }) => ({
    fault: fault.id,
    message: line(why),
    ...(subject ? { subject: subjectOf(subject) } : {}),
  }));
  const different = [...new Map(all.map((each) => [JSON.stringify(each), each])).values()];
  if (different.length <= CHECKED_UNKNOWNS_OF_FAULT_MAX) return different;
  const listed = different.slice(0, CHECKED_UNKNOWNS_OF_FAULT_MAX - 1);
  // About no subject, so that it may be about any finding.
  const message = `${different.length - listed.length} more that could not be determined`;
  return [...listed, { fault: fault.id, message }];
}

/**
 * The length that `cutText` adds fits into the rest. Names of files may hold any byte, and the API
 * server accepts no control characters in what is applied.
 */
function line(text: string): string {
  const NOTE_CHARACTERS = 32;
  return cutText(printable(text), REPORTED_TEXT_MAX - NOTE_CHARACTERS).slice(0, REPORTED_TEXT_MAX);
}
