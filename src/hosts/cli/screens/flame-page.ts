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
 * A flame graph as one page of HTML that asks for nothing: it may be mailed, and opened from a disk.
 * The table says the same in words, for those who cannot see the picture or run scripts.
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
<p>${escaped(facts)}. A bar is a call, as wide as the time that was spent in it; what it called is
below it. Choose one to see it alone.</p>
<p class="tools">
<label>Search <input id="search" type="search" autocomplete="off" spellcheck="false"></label>
<button id="reset" type="button">Show all</button>
<output id="status" aria-live="polite"></output>
</p>
<div id="flame" role="group" aria-label="Flame graph"></div>
<noscript><p>The picture needs scripts; the table below does not.</p></noscript>
<h2>Functions that spend most</h2>
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

/** Whatever is in the page, no browser asks anybody for anything on its behalf. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

/** Its name, what was spent in it, and what it called. */
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

/** JSON in which nothing can end the element that it stands in. */
function embedded(value: unknown): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c');
}
