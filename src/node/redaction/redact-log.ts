import { headerOf, parseLogLine } from '../evidence/logs/log-line.ts';
import { fieldsIn, SIGNATURES } from '../evidence/logs/log-signatures.ts';
import { UNIT_SIGNATURE_LIST } from '../evidence/logs/log-signatures-of-units.ts';
import type { Signature } from '../model/log-signature.ts';
import type { LogLine, LogLines } from '../model/node-reader.ts';
import { REDACTED, type RedactionRules } from '../model/redaction.ts';
import { redactMessage } from './redact-message.ts';
import { redactSentence } from './redact-prose.ts';

/**
 * Only lines that match a known signature leave the node, with free text redacted; of the first and the
 * last line, only the time.
 */
export function redactLog(read: LogLines, rules: RedactionRules): LogLines {
  const known = [...KNOWN, ...rules.logSignatures];
  return {
    ...read,
    lines: read.lines.flatMap((line) => redactLine(line, known, rules)),
    first: onlyTime(read.first),
    last: onlyTime(read.last),
  };
}

const KNOWN: readonly Signature[] = [...SIGNATURES, ...UNIT_SIGNATURE_LIST.map(([, each]) => each)];

function redactLine(
  { number, text }: LogLine,
  known: readonly Signature[],
  rules: RedactionRules,
): readonly LogLine[] {
  const { message, time } = parseLogLine(text);
  const said = known.filter((each) => fieldsIn(message, each));
  if (said.length === 0) return [];
  const wordy = said.find(({ isWordy }) => isWordy);
  if (wordy) return [{ number, text: `${headerOf(time)}${redactWordy(message, wordy, rules)}` }];
  // What wraps the line may not survive, so the line is written again; plain text stays as it is.
  const isPlain = text.endsWith(message);
  const safe = isPlain ? redactSentence(text) : `${headerOf(time)}${redactSentence(message)}`;
  return [{ number, text: oneLine(safe) }];
}

/** Up to its literal the line is the kubelet's own; what follows was said by a runtime. */
function redactWordy(message: string, { literals }: Signature, rules: RedactionRules): string {
  const end = Math.max(...literals.map((literal) => message.indexOf(literal) + literal.length));
  return oneLine(redactSentence(message.slice(0, end)) + redactMessage(message.slice(end), rules));
}

function oneLine(text: string): string {
  return text.replaceAll('\n', '\\n');
}

function onlyTime(line: string | null): string | null {
  return line === null ? null : `${headerOf(parseLogLine(line).time)}${REDACTED}`;
}
