import type { Signature } from '../../model/log-signature.ts';

export type Fields = Readonly<Record<string, string>>;

/** The fields of a message that has this signature; undefined when it has not. */
export function fieldsIn(message: string, { literals, patterns }: Signature): Fields | undefined {
  if (!literals.some((literal) => message.includes(literal))) return undefined;
  for (const pattern of patterns) {
    const found = pattern.exec(message);
    if (!found) continue;
    const groups = Object.entries(found.groups ?? {}).filter(([, text]) => text !== undefined);
    return Object.fromEntries(groups.map(([name, text]) => [name, (text ?? '').trim()]));
  }
  return undefined;
}
