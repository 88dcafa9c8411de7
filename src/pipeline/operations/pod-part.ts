import type { Finding, Proof } from '../../node/model/finding.ts';
import { originText } from '../../node/model/origin.ts';
import { type Unknown, type Verdict, verdictOf } from '../../node/model/verdict.ts';
import type { OperationResult, StepRecord } from '../steps/operation-result.ts';
import { namesOther, type PodScope } from './pod-scope.ts';

const WITHHELD = 'withheld: it names another pod';

/** What could not be determined counts, but its text may be about anything on the node. */
const NOT_SHOWN =
  'something that is not part of this pod could not be determined; a Diagnosis without podReference shows it';

/** The part of a verdict that is about this pod: its findings, and texts that name no other pod. */
export function verdictOfPod(verdict: Verdict, scope: PodScope): Verdict {
  const unknowns = verdict.unknowns
    .filter(({ subject }) => subject?.podUid === undefined || subject.podUid === scope.uid)
    .map((unknown) => unknownOfPod(unknown, scope));
  return verdictOf({
    ...verdict,
    findings: verdict.findings
      .filter(({ subject }) => subject.podUid === scope.uid)
      .map((finding) => findingOfPod(finding, scope)),
    unknowns: [...new Map(unknowns.map((unknown) => [unknown.why, unknown])).values()],
  });
}

function findingOfPod(finding: Finding, scope: PodScope): Finding {
  const { refusal, prevention, alternatives } = finding;
  const own = (text: string) => ownText(text, scope);
  const isOwn = (text: string) => !namesOther(text, scope);
  return {
    ...finding,
    summary: own(finding.summary),
    subject: Object.fromEntries(
      Object.entries(finding.subject).map(([key, text]) => [key, own(String(text))]),
    ),
    proof: finding.proof.map((proof) => proofOfPod(proof, scope)),
    blastRadius: own(finding.blastRadius),
    excluded: finding.excluded.filter(isOwn),
    alternatives: alternatives.filter(({ text = '', command = '' }) => isOwn(`${text} ${command}`)),
    ...(refusal === undefined ? {} : { refusal: own(refusal) }),
    ...(prevention ? { prevention: prevention.filter(isOwn) } : {}),
  };
}

function proofOfPod(proof: Proof, scope: PodScope): Proof {
  const { claim, text = '', origin } = proof;
  const isOwn = ![claim, text, originText(origin)].some((each) => namesOther(each, scope));
  return isOwn ? proof : { claim: WITHHELD, origin: { source: 'this node' } };
}

/** The text of a failed read has the source and the failure; other texts may have lines of logs. */
function unknownOfPod(unknown: Unknown, scope: PodScope): Unknown {
  const { why, failure, failures, subject } = unknown;
  const isAboutPod = subject?.podUid === scope.uid || failure !== undefined;
  const shown = isAboutPod && !namesOther(why, scope) ? why : NOT_SHOWN;
  return { why: shown, ...(failures ? { failures } : {}) };
}

function ownText(text: string, scope: PodScope): string {
  return namesOther(text, scope) ? WITHHELD : text;
}

/** The result of a built-in step without texts that name another pod. Its results are filtered already. */
export function resultOfPod(result: OperationResult, scope: PodScope): OperationResult {
  const own = <T extends object>(each: T): T => ownTexts(each, scope) as T;
  const record = result.record && own<StepRecord>(result.record);
  const shown = record ? { ...result, record } : result;
  return shown.succeeded ? shown : { ...shown, message: ownText(shown.message, scope) };
}

function ownTexts(value: unknown, scope: PodScope): unknown {
  if (typeof value === 'string') return ownText(value, scope);
  if (Array.isArray(value)) return value.map((each) => ownTexts(each, scope));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, ownTexts(each, scope)]),
  );
}
