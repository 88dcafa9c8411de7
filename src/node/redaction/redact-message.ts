import { REDACTED, type RedactionRules } from '../model/redaction.ts';

/**
 * A message of a runtime or the kubelet about a container. It may quote the application or a signed
 * URL of a registry, so only what a fault reads of it leaves the node.
 */
export function redactMessage(message: string, { messages }: RedactionRules): string {
  if (message === '') return message;
  for (const rule of messages) {
    const safe = rule(message);
    if (safe !== undefined) return safe;
  }
  return REDACTED;
}
