import { type Flame, flameOf, functionsOf, type Profile } from '../../../lib/go/profile.ts';
import { amountOf, percent } from './show-profile.ts';

const FUNCTIONS_LISTED_MAX = 50;

/**
 * A flame graph as one self-contained HTML page: it may be mailed, and opened from a disk. The table
 * has the same data for people who cannot see the graph or run scripts.
 */
export function flamePage(profile: Profile, name: string): string {
  const { time, durationMs, measure, unit } = profile;
  const title = escaped(`CPU profile: ${name}`);
  const facts = [
    `${amountOf(profile.total, unit)} of ${measure}`,
    ...(durationMs > 0 ? [`in ${(durationMs / 1000).toFixed(1)} s`] : []),
    ...(time ? [time.toISOString()] : []),
  ];
  const flame = flameOf(profile, name);
  const total = Math.max(flame.value, 1);
  const rows = functionsOf(profile)
    .slice(0, FUNCTIONS_LISTED_MAX)
    .map(
      ({ function: called, flat, cumulative }) =>
        `<tr><td>${amountOf(flat, unit)}</td><td>${percent(flat, total)}</td>` +
        `<td>${amountOf(cumulative, unit)}</td><td>${percent(cumulative, total)}</td>` +
        `<th scope="row">${escaped(called)}</th></tr>`,
    );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<title>${title}</title>
<style>${FLAME_STYLE}</style>
</head>
<body>
<main>
<h1>${title}</h1>
<p>${escaped(facts.join(', '))}. Each bar is a call; its width is the time spent in it, and the calls below it are
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

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** JSON that cannot close the script element. */
function embedded(value: unknown): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c');
}

/** Style and script of a flame graph's page. Names are set as text, never as markup. */

const FLAME_STYLE = `
:root { color-scheme: light dark; --ink: #1b1b1b; --paper: #fff; --line: #d0d0d0; --mark: #7a1fa2; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #eee; --paper: #1a1a1a; --line: #444; --mark: #e0a0ff; }
}
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 1600px; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.3rem; margin: 0; }
h2 { font-size: 1.1rem; }
.tools { display: flex; flex-wrap: wrap; gap: .75rem; align-items: center; }
input, .tools button { font: inherit; padding: .2rem .5rem; }
#flame { position: relative; overflow: hidden; border: 1px solid var(--line); }
#flame button { position: absolute; box-sizing: border-box; height: 19px; margin: 0; padding: 0 3px;
  border: 0; border-right: 1px solid var(--paper); border-radius: 0; overflow: hidden; color: #1b1b1b;
  font: 12px/19px ui-monospace, monospace; text-align: left; white-space: nowrap; cursor: pointer; }
#flame button.found { background: var(--mark) !important; color: var(--paper); }
#flame button:focus-visible, #flame button:hover { outline: 2px solid var(--ink); z-index: 1; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
td, thead th { text-align: right; padding: .1rem .75rem .1rem 0; }
tbody th, thead th:last-child { text-align: left; font-weight: normal; word-break: break-all; }
tbody tr { border-top: 1px solid var(--line); }
`;

const FLAME_SCRIPT = `
'use strict';
(() => {
  const { unit, flame } = JSON.parse(document.getElementById('profile').textContent);
  const box = document.getElementById('flame');
  const search = document.getElementById('search');
  const status = document.getElementById('status');
  const ROW = 20;
  const WIDTH_MIN = 1;
  const total = flame[1] || 1;
  let path = [flame];

  const amount = (value) => unit !== 'nanoseconds' ? value + ' ' + unit
    : value >= 1e9 ? (value / 1e9).toFixed(2) + ' s' : Math.round(value / 1e6) + ' ms';
  const words = ([name, value]) =>
    name + ', ' + amount(value) + ', ' + (value / total * 100).toFixed(1) + ' %';
  const shortName = (name) => name.slice(name.lastIndexOf('/') + 1);
  const hue = (name) => {
    let hash = 0;
    const group = name.slice(0, name.indexOf('.', name.lastIndexOf('/') + 1));
    for (const character of group) hash = (hash * 31 + character.codePointAt(0)) >>> 0;
    return 20 + hash % 50;
  };

  function draw() {
    const width = box.clientWidth;
    const wanted = search.value.trim().toLowerCase();
    const bars = [];
    let rows = 0;
    let found = 0;
    const add = (call, way, left, span, row, inFound) => {
      if (span < WIDTH_MIN) return;
      rows = Math.max(rows, row + 1);
      const isFound = wanted !== '' && call[0].toLowerCase().includes(wanted);
      const bar = document.createElement('button');
      bar.type = 'button';
      bar.textContent = span > 24 ? shortName(call[0]) : '';
      bar.title = words(call);
      bar.setAttribute('aria-label', words(call));
      bar.style.cssText = 'left:' + left + 'px;width:' + span + 'px;top:' + row * ROW + 'px;'
        + 'background:hsl(' + hue(call[0]) + ' 85% ' + (way.length < path.length ? 88 : 68) + '%)';
      if (isFound) bar.className = 'found';
      if (isFound && !inFound) found += call[1];
      bar.addEventListener('click', () => { path = way; draw(); });
      bars.push(bar);
      if (way.length < path.length) return;
      let at = left;
      for (const child of call.slice(2)) {
        const part = span * child[1] / (call[1] || 1);
        add(child, [...way, child], at, part, row + 1, inFound || isFound);
        at += part;
      }
    };
    path.forEach((call, row) => {
      if (row < path.length - 1) add(call, path.slice(0, row + 1), 0, width, row, false);
    });
    add(path[path.length - 1], path, 0, width, path.length - 1, false);
    box.replaceChildren(...bars);
    box.style.height = rows * ROW + 'px';
    const shown = path[path.length - 1];
    status.textContent = wanted === '' ? words(shown)
      : 'found in ' + (found / (shown[1] || 1) * 100).toFixed(1) + ' % of the shown time';
  }

  search.addEventListener('input', draw);
  document.getElementById('reset').addEventListener('click', () => { path = [flame]; draw(); });
  addEventListener('resize', draw);
  draw();
})();
`;
