import type { Profile, ProfileFunction } from '../../../lib/go/profile.ts';
import { printable } from '../../../lib/std/printable.ts';
import type { Terminal } from '../../../lib/terminal/terminal.ts';

const FUNCTIONS_SHOWN_MAX = 20;
const NAME_COLUMNS_MIN = 30;

/** The functions that spend most, as `go tool pprof -top` shows them. */
export function profileScreen(
  profile: Profile,
  functions: readonly ProfileFunction[],
  { style, width }: Terminal,
): string {
  const { total, unit, measure, durationMs } = profile;
  const spent = `${amountOf(total, unit)} of ${measure}`;
  const share = (total / 1e6 / durationMs) * 100;
  const within =
    durationMs > 0
      ? ` in ${(durationMs / 1000).toFixed(1)} s${unit === 'nanoseconds' ? ` (${share.toFixed(1)} % of one core)` : ''}`
      : '';
  const shown = functions.slice(0, FUNCTIONS_SHOWN_MAX);
  const head = style('bold', `${spent}${within}, ${functions.length} functions`);
  if (total === 0) return `${head}\nIt did nothing while it was watched.\n`;
  const columns = Math.max(NAME_COLUMNS_MIN, width - FIGURES.length - 2);
  const lines = shown.map(({ function: name, flat, cumulative }) =>
    [
      amountOf(flat, unit).padStart(9),
      percent(flat, total).padStart(7),
      amountOf(cumulative, unit).padStart(9),
      percent(cumulative, total).padStart(7),
      `  ${shortened(printable(name), columns)}`,
    ].join(' '),
  );
  return `${[head, `${FIGURES.trimEnd()}  function`, ...lines].join('\n')}\n`;
}

const FIGURES = '     flat  flat %       cum   cum %';

export function percent(value: number, total: number): string {
  return `${((value / total) * 100).toFixed(1)} %`;
}

/** 1230000000 nanoseconds are "1.23 s". */
export function amountOf(value: number, unit: string): string {
  if (unit !== 'nanoseconds') return `${value} ${unit}`;
  const ms = value / 1e6;
  return ms >= 1_000 ? `${(ms / 1_000).toFixed(2)} s` : `${Math.round(ms)} ms`;
}

/** Drops the path of the package first: the end of the name identifies a function. */
function shortened(name: string, columns: number): string {
  const short = name.length > columns ? name.slice(name.lastIndexOf('/') + 1) : name;
  return short.length > columns ? `${short.slice(0, columns - 3)}...` : short;
}
