import { findingId, type Judged } from '../src/node/checkup/judge-faults.ts';
import type { AnyFault } from '../src/node/model/fault.ts';
import type { Finding } from '../src/node/model/finding.ts';
import { originText } from '../src/node/model/origin.ts';

export type GoldenAnswer = ReturnType<typeof goldenAnswer>;

/** What a fault says of a node, without its sentences: those are checked once, in messages.txt. */
export function goldenAnswer({ fault, verdict }: Judged) {
  const unknowns = verdict.unknowns.map(({ subject = {} }) => subject);
  return {
    verdict: verdict.state,
    ...(unknowns.length > 0 ? { unknowns } : {}),
    findings: verdict.findings.map((finding) => ({
      id: findingId(fault, finding),
      state: finding.state,
      reason: finding.reason,
      subject: finding.subject,
      proof: finding.proof.map(({ origin }) => originText(origin)),
      actions: recoveryOf(fault, finding)?.actions ?? [],
    })),
  };
}

/** Every sentence of a verdict, each with the field that it is in. */
export function messagesOf({ fault, verdict }: Judged): ReadonlySet<string> {
  const fields = [
    ...verdict.findings.flatMap((finding) => fieldsOf(fault, finding)),
    ...verdict.unknowns.flatMap(({ why, manual }) => [
      ['unknown', [why]] as const,
      ['manual', Object.values(manual ?? {}).flat()] as const,
    ]),
  ];
  return new Set(
    fields.flatMap(([field, texts]) =>
      texts.filter((text) => text !== undefined).map((text) => `${field}: ${text}`),
    ),
  );
}

function fieldsOf(fault: AnyFault, finding: Finding) {
  const recovery = recoveryOf(fault, finding);
  return [
    ['summary', [finding.summary]],
    ['claim', finding.proof.map(({ claim }) => claim)],
    ['text', finding.proof.map(({ text }) => text)],
    ['blastRadius', [finding.blastRadius]],
    ['excluded', finding.excluded],
    ['alternatives', finding.alternatives.flatMap(({ text, command }) => [text, command])],
    ['refusal', [finding.refusal]],
    ['prevention', finding.prevention ?? []],
    ['touches', [recovery?.touches]],
    ['leaves', [recovery?.leaves]],
    ['afterwards', [recovery?.afterwards]],
    ['confirmation', [recovery?.confirmation?.why]],
  ] as const;
}

function recoveryOf(fault: AnyFault, finding: Finding) {
  return finding.state === 'benign' ? undefined : fault.recover?.(finding);
}
