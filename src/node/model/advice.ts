/**
 * Advice of a finding (`alternatives`) has a command or a sentence in each line. A sentence begins with
 * one of these openings, and everything else is a command: a sentence that is taken for a command only
 * makes a long line, but a command that is wrapped like a sentence cannot be copied.
 */
const OPENINGS = [
  'risk: ',
  'bring the server back: ',
  'if ',
  'look ',
  'mend what ',
  'on the node: ',
  'only if ',
  "read the kubelet's log ",
  'restart that ',
  'systemd has no unit ',
  'to ',
  'until then ',
  'what is left in ',
] as const;

export function isSentence(advice: string): boolean {
  return OPENINGS.some((opening) => advice.startsWith(opening));
}

/** Ends where the command in the next line belongs to it. */
export function leadsToCommand(advice: string): boolean {
  return isSentence(advice) && advice.endsWith(':');
}
