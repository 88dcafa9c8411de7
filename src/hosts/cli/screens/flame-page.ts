import type { Flame, ProfileFunction } from '../../../lib/go/profile-top.ts';
import { FLAME_SCRIPT, FLAME_STYLE } from './flame-parts.ts';
import { amountOf } from './show-profile.ts';

export interface FlamePage {
  readonly title: string;
  readonly facts: string;
  readonly unit: string;
  readonly flame: Flame;
  readonly functions: readonly ProfileFunction[];
}

const FUNCTIONS_LISTED_MAX = 50;

/**
 * A flame graph as one self-contained HTML page: it may be mailed, and opened from a disk. The table
 * has the same data for people who cannot see the graph or run scripts.
 */
export function flamePage({ title, facts, unit, flame, functions }: FlamePage): string {
  const total = Math.max(flame.value, 1);
  const rows = functions
    .slice(0, FUNCTIONS_LISTED_MAX)
    .map(
      ({ function: name, flat, cumulative }) =>
        `<tr><td>${amountOf(flat, unit)}</td><td>${percent(flat, total)}</td>` +
        `<td>${amountOf(cumulative, unit)}</td><td>${percent(cumulative, total)}</td>` +
        `<th scope="row">${escaped(name)}</th></tr>`,
    );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<title>${escaped(title)}</title>
<style>${FLAME_STYLE}</style>
</head>
<body>
<main>
<h1>${escaped(title)}</h1>
<p>${escaped(facts)}. Each bar is a call; its width is the time spent in it, and the calls below it are
those that it made. Select a bar to zoom in.</p>
<p class="tools">
<label>Search <input id="search" type="search" autocomplete="off" spellcheck="false"></label>
<button id="reset" type="button">Show all</button>
<output id="status" aria-live="polite"></output>
</p>
<div id="flame" role="group" aria-label="Flame graph"></div>
<noscript><p>The graph needs scripts; the table below does not.</p></noscript>
<h2>Functions by CPU time</h2>
<table>
<thead><tr><th scope="col">own</th><th scope="col">share</th><th scope="col">with calls</th>
<th scope="col">share</th><th scope="col">function</th></tr></thead>
<tbody>
${rows.join('\n')}
</tbody>
</table>
</main>
<script type="application/json" id="profile">${embedded({ unit, flame: compact(flame) })}</script>
<script>${FLAME_SCRIPT}</script>
</body>
</html>
`;
}

/** No browser loads anything for this page, whatever the profile contains. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

/** The name of a call, the time spent in it, and its children. */
interface Compact extends ReadonlyArray<string | number | Compact> {}

function compact({ name, value, children }: Flame): Compact {
  return [name, value, ...children.map(compact)];
}

function percent(value: number, total: number): string {
  return `${((value / total) * 100).toFixed(1)} %`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** JSON that cannot close the script element. */
function embedded(value: unknown): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c');
}
