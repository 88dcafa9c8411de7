/** Equal without regard to case, or with one letter added, missing, different or swapped. */
export function isNearly(name: string, given: string): boolean {
  const [left, right] = [name.toLowerCase(), given.toLowerCase()];
  let begin = 0;
  while (begin < left.length && left[begin] === right[begin]) begin += 1;
  let end = 0;
  const most = Math.min(left.length, right.length) - begin;
  while (end < most && left.at(-1 - end) === right.at(-1 - end)) end += 1;
  const [here, there] = [
    left.slice(begin, left.length - end),
    right.slice(begin, right.length - end),
  ];
  if (Math.max(here.length, there.length) <= 1) return true;
  return here.length === 2 && here[0] === there[1] && here[1] === there[0] && there.length === 2;
}
