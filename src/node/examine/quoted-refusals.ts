import type { StartRefusal } from '../evidence/containers/start-refusals.ts';
import { FOLDED_LINES_MAX, REFUSALS_MAX } from './limits.ts';

/** What every runtime says when it speaks of the mount of a subPath volume. */
const MARK = '/volume-subpaths/';

// mounting \"/var/lib/kubelet/pods/.../volume-subpaths/conf/app/1\" to rootfs at ...
// mount `/var/lib/kubelet/pods/.../volume-subpaths/conf/app/1` to `etc/app.conf`: No such file
const REFUSAL = /mount(?:ing)?\s+\\*["`]\/[^"`\s]*\/volume-subpaths\//;

// caused: no such file or directory: unknown
const ENDING = /no such file or directory/i;

/** The words of a runtime that could not mount a subPath volume, wherever in a text they stand. */
export function quotedRefusals(text: string, name: string): readonly StartRefusal[] {
  const found: StartRefusal[] = [];
  let line = 1;
  let counted = 0;
  let done = -1;
  for (let at = text.indexOf(MARK); at >= 0; at = text.indexOf(MARK, at + MARK.length)) {
    if (at < done) continue;
    const start = text.lastIndexOf('\n', at) + 1;
    for (; counted < start; counted += 1) if (text.charCodeAt(counted) === 10) line += 1;
    const words = unfolded(text, start);
    if (!words) continue;
    found.push({ text: words.text.replace(/\s+/g, ' ').trim(), origin: { file: name, line } });
    done = words.end;
    if (found.length >= REFUSALS_MAX) break;
  }
  return found;
}

/** The message whose line begins here, with the lines over which it was folded. */
function unfolded(text: string, start: number) {
  const from = beginning(text, start);
  if (from === undefined) return undefined;
  let end = lineEnd(text, start);
  for (let fold = 0; fold < FOLDED_LINES_MAX; fold += 1) {
    const words = text.slice(from, end);
    if (ENDING.test(words)) return { text: words, end };
    if (end >= text.length) return undefined;
    end = lineEnd(text, end + 1);
  }
  return undefined;
}

/** A fold can stand just before the path: the word "mounting" is then on the line above. */
function beginning(text: string, start: number): number | undefined {
  let from = start;
  for (let fold = 0; fold < FOLDED_LINES_MAX; fold += 1) {
    if (REFUSAL.test(text.slice(from, lineEnd(text, start)))) return from;
    if (from === 0) return undefined;
    from = text.lastIndexOf('\n', from - 2) + 1;
  }
  return undefined;
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end < 0 ? text.length : end;
}
