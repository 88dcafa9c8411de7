import { findingId } from '../checkup/check-up.ts';
import type { Looked } from '../host/take-look.ts';
import type { AnyFault } from '../model/fault.ts';
import type { Finding } from '../model/finding.ts';
import type { Doubt } from '../model/verdict.ts';
import { printable } from '../std/printable.ts';
import { EXIT } from './exit-codes.ts';
import { wrapWords } from './wrap.ts';

type Seen = Pick<Looked, 'report' | 'judged'>;

type Chosen =
  | {
      readonly findings: readonly Finding[];
      /** Latent ones that nobody named: they are left, and may hurt soon. */
      readonly left?: readonly Finding[];
    }
  | { readonly nothing: string; readonly code: number };

/** What to recover: the named finding, or all that hurts now. A latent one is only taken by name. */
export function chooseFindings(fault: AnyFault, looked: Seen, name: string | undefined): Chosen {
  const chosen = choose(fault, looked, name);
  if ('nothing' in chosen) return chosen;
  const ours = chosen.findings.filter(
    (finding) => (fault.recover?.(finding).actions.length ?? 0) > 0,
  );
  return ours.length > 0
    ? { ...chosen, findings: ours }
    : { nothing: forOthers(chosen.findings), code: EXIT.notDone };
}

/** Found, but such that only a person can go on from here. */
function forOthers(findings: readonly Finding[]): string {
  const lines = findings.flatMap(({ summary, refusal, otherCures }) => [
    labelled('why', summary),
    ...(refusal === undefined ? [] : [labelled('', refusal)]),
    ...otherCures.map((cure) => `  do    ${printable(cure)}\n`),
  ]);
  return `refused: KubeDiag has no repair for what it found here\n${lines.join('')}`;
}

function choose(fault: AnyFault, looked: Seen, name: string | undefined): Chosen {
  const verdict = looked.judged[0]?.verdict;
  const findings = (verdict?.findings ?? []).filter(({ state }) => state !== 'benign');
  const doubts = verdict && 'doubts' in verdict ? verdict.doubts : [];
  if (name !== undefined) return chooseNamed(fault, findings, name);

  const urgent = findings.filter(({ state }) => state === 'active' || state === 'damaged');
  if (urgent.length > 0) {
    return { findings: urgent, left: findings.filter((finding) => !urgent.includes(finding)) };
  }
  if (findings.length > 0) {
    const ours = findings.filter((each) => (fault.recover?.(each).actions.length ?? 0) > 0);
    if (ours.length === 0) return { nothing: forOthers(findings), code: EXIT.notDone };
    const ids = ours.map((finding) => findingId(fault, finding));
    const commands = ids.map((id) => `        kubediag recover ${fault.id} --finding ${id}\n`);
    return {
      nothing: `No finding is active; ${findings.length} latent. To clear one all the same, name it:\n${commands.join('')}`,
      code: EXIT.clear,
    };
  }
  if (doubts.length > 0) {
    const why = doubts.map(doubtLines).join('');
    return {
      nothing: `unknown: what is wrong is not known well enough to act on it\n${why}`,
      code: EXIT.unknown,
    };
  }
  return { nothing: `${fault.id} is clear on this node: nothing to do\n`, code: EXIT.clear };
}

function doubtLines({ why, byHand }: Doubt): string {
  const commands = (byHand?.commands ?? []).map((command) => `  hand  ${printable(command)}\n`);
  const risk = byHand ? labelled('risk', byHand.risk) : '';
  return `${labelled('why', why)}${commands.join('')}${risk}`;
}

const COLUMNS = 80;

function labelled(label: string, text: string): string {
  return wrapWords(text, COLUMNS - 8)
    .map((line, at) => `  ${(at === 0 ? label : '').padEnd(6)}${line}\n`)
    .join('');
}

function chooseNamed(fault: AnyFault, findings: readonly Finding[], name: string): Chosen {
  const named = findings.find((finding) => findingId(fault, finding) === name);
  // A small number is the position on the screen.
  const placed = /^[1-9]\d?$/.test(name) ? findings[Number(name) - 1] : undefined;
  const finding = named ?? placed;
  if (finding) return { findings: [finding] };
  const ids = findings.map((each) => findingId(fault, each));
  const now = ids.length > 0 ? `now there are: ${ids.join(', ')}` : 'now there is none';
  return {
    nothing: `refused: there is no finding ${JSON.stringify(name)}\n  why   ${now}; it may be gone, or remade\n  do    kubediag check ${fault.id}\n`,
    code: EXIT.notDone,
  };
}
