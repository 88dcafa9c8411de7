import { existsSync } from 'node:fs';
import { folderOf, LAYERS, type Layer, MODULES } from '../import-table.ts';

/** The modules of ARCHITECTURE.md, from the table of import rules: a diagram and a table per layer. */

// <!-- modules: generated from tools/import-table.ts -->
// <!-- end of modules -->
const MARKED = /(<!-- modules: [^\n]* -->\n)[\s\S]*?(<!-- end of modules -->)/;

/** The page with the modules between its two marks. */
export function withModuleMap(page: string): string {
  if (!MARKED.test(page)) throw new Error('ARCHITECTURE.md has no marks for the modules');
  return page.replace(MARKED, (_, opening, closing) => `${opening}\n${moduleMap()}\n${closing}`);
}

function moduleMap(): string {
  const layers = LAYERS.toReversed();
  const others = Object.keys(MODULES).filter((name) => MODULES[name]?.layer === undefined);
  return [
    '```text',
    layers.map(layerLine).join(`\n${' '.repeat(4)}▼\n`),
    '```',
    ...LAYERS.toReversed().flatMap((layer) => ['', `### src/${layer}`, '', table(namesIn(layer))]),
    '',
    '### Beside the layers',
    '',
    table(others),
  ].join('\n');
}

function layerLine(layer: Layer): string {
  const planned = namesIn(layer).filter((name) => !isBuilt(name));
  const built = namesIn(layer).filter(isBuilt).join('  ');
  return `${layer.padEnd(10)}${built}${planned.length > 0 ? `  (${planned.join('  ')})` : ''}`;
}

function table(names: readonly string[]): string {
  const rows = names.map(
    (name) => `| ${linkTo(name)} | ${MODULES[name]?.does} | ${importsOf(name)} |`,
  );
  return ['| module | does | may import |', '|---|---|---|', ...rows].join('\n');
}

/** Pure modules in bold. */
function linkTo(name: string): string {
  if (!isBuilt(name)) return `${name} (planned)`;
  const readme = name === 'main' ? 'src/main.ts' : `${folderOf(name)}/README.md`;
  const link = `[${name}](${readme})`;
  return MODULES[name]?.pure ? `**${link}**` : link;
}

/** "std, go · all of node · store": the lowest layer first. */
function importsOf(name: string): string {
  const { imports = [], packages = [] } = MODULES[name] ?? {};
  const layers = [...LAYERS, undefined].map((layer) => {
    const there = imports.filter((each) => MODULES[each]?.layer === layer);
    const all = layer ? namesIn(layer).filter((each) => each !== name) : [];
    const isAll = all.length > 3 && all.every((each) => there.includes(each));
    return isAll ? `all of ${layer}` : there.join(', ');
  });
  const npm = packages.length > 0 ? `npm: ${packages.join(', ')}` : '';
  return [...layers, npm].filter(Boolean).join(' · ') || 'nothing';
}

function namesIn(layer: Layer): readonly string[] {
  return Object.keys(MODULES).filter((name) => MODULES[name]?.layer === layer);
}

function isBuilt(name: string): boolean {
  return name === 'main' || existsSync(folderOf(name));
}
