import { isNearly } from '../../src/lib/std/is-nearly.ts';
import { UsageError } from '../../src/lib/terminal/terminal.ts';
import { caseName, type NamedBreak } from '../break.ts';

/** The cases whose names begin with one of the arguments; all cases without arguments. */
export function chooseCases<T extends NamedBreak>(
  args: readonly string[],
  breaks: readonly T[],
): readonly T[] {
  const names = breaks.map(caseName);
  const lost = args.find((word) => !names.some((name) => name.startsWith(word)));
  if (lost !== undefined) throw new UsageError(wrongWords(lost, names));
  const isMeant = (name: string) => args.length === 0 || args.some((word) => name.startsWith(word));
  return breaks.filter((each) => isMeant(caseName(each)));
}

function wrongWords(word: string, names: readonly string[]): string {
  const groups = [...new Set(names.map((name) => name.slice(0, name.indexOf('/'))))];
  const meant = names.filter((name) =>
    [name, name.slice(name.indexOf('/') + 1)].some((part) => isNearly(part, word)),
  );
  const holding = names.filter((name) => name.includes(word));
  const near = [
    ...new Set([...groups.filter((group) => isNearly(group, word)), ...meant, ...holding]),
  ];
  const advice =
    near.length > 0
      ? `did you mean ${near.slice(0, NEAR_SHOWN_MAX).join(', ')}?`
      : `case names begin with ${groups.join(', ')}; to list them: kubediag lab break`;
  return `no such case: "${word}"; ${advice}`;
}

const NEAR_SHOWN_MAX = 5;
