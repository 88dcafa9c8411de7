const NAMES_SHOWN_MAX = 3;

/** "2 stay because it is not empty: a.deleting~1, b.deleting~2; ...": each reason once. */
export function removalReasons(stored: ReadonlyMap<string, string | null>): string {
  const names = new Map<string, string[]>();
  for (const [name, why] of stored) {
    if (why === null) continue;
    const known = names.get(why);
    if (known) known.push(name);
    else names.set(why, [name]);
  }
  return [...names]
    .map(([why, some]) => {
      const shown = some.slice(0, NAMES_SHOWN_MAX).join(', ');
      const more = some.length > NAMES_SHOWN_MAX ? ' ...' : '';
      return `${some.length} ${some.length === 1 ? 'stays' : 'stay'}, for ${why}: ${shown}${more}`;
    })
    .join('; ');
}
