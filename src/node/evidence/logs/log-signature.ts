/** Something that a kubelet, or a neighbour of it, says in its log when a certain thing happens. */
export interface Signature {
  /** One of them is in every line that says so. They find the line; at least ten characters. */
  readonly literals: readonly string[];
  /**
   * What the line must look like, with every quote bare; the first that fits counts, and its named
   * groups are the fields. The wording changes from version to version, so patterns hold on to what
   * does not: never to the file and the line of the source, nor to the order of "name=value".
   * Others' words may stand in a line: a pattern that can begin anywhere must not run far.
   */
  readonly patterns: readonly RegExp[];
  /** Whether others' words may stand in it, which are nobody's business. */
  readonly isWordy?: boolean;
}

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
