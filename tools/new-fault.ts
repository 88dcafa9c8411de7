import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

// swollen-journal
const NAME = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)+$/;
// import { staleSubpathMount } from './stale-subpath-mount/fault.ts';
const IMPORT = /^import \{ (\w+) \} from '\.\/([a-z0-9-]+)\/fault\.ts';$/gm;

/** The skeleton of a fault: it compiles, says `unknown`, and has a test that fails until it is written. */
export function newFault(name: string, project: string): readonly string[] {
  if (!NAME.test(name))
    throw new Error(`"${name}" is no name: two words or more, such as stale-mount`);
  const folder = join('src/node/faults', name);
  if (existsSync(join(project, folder))) throw new Error(`${folder} is there already`);
  const value = name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
  const files = new Map([
    ['fault.ts', manifest(name, value)],
    ['diagnose.ts', DIAGNOSE],
    ['fault.test.ts', test(value)],
    ['README.md', page(name)],
  ]);
  mkdirSync(join(project, folder), { recursive: true });
  for (const [file, text] of files) writeFileSync(join(project, folder, file), text);
  const index = join(project, 'src/node/faults/index.ts');
  writeFileSync(index, withFault(readFileSync(index, 'utf8'), name, value));
  return [...files.keys(), '../index.ts'].map((file) => join(folder, file));
}

/** The list of faults with one more, in the order of their folders. */
function withFault(text: string, name: string, value: string): string {
  const found = [...text.matchAll(IMPORT)];
  const following = found.filter(([, , folder = '']) => folder > name);
  const line = `import { ${value} } from './${name}/fault.ts';\n`;
  const [after = '\n/** Every fault'] = following[0] ?? [];
  // Those that are reported first stand in a list of their own.
  const next = following.find(([, each]) => text.includes(`\n  ${each},\n`));
  const listed = next === undefined ? '\n].toSorted' : `\n  ${next[1]},`;
  return text.replace(after, line + after).replace(listed, `\n  ${value},${listed}`);
}

function manifest(name: string, value: string): string {
  return `import { kubelet } from '../../evidence/kubelet/kubelet.ts';
import { defineFault } from '../../model/fault.ts';
import { diagnose, reasons } from './diagnose.ts';

export const ${value} = defineFault({
  id: '${name}',
  title: 'What is broken, in one line',
  severity: 'degraded',
  stage: 'nursery',
  references: [],
  affected: [],
  reasons,
  needs: { kubelet },
  diagnose,
});
`;
}

const DIAGNOSE = `import type { Kubelet } from '../../evidence/kubelet/kubelet.ts';
import { type Verdict, verdictOf } from '../../model/verdict.ts';

export const reasons = {} as const satisfies Record<string, string>;

export interface Evidence {
  readonly kubelet: Kubelet;
}

export function diagnose({ kubelet }: Evidence): Verdict {
  const why = \`nobody has written yet how to judge the kubelet at \${kubelet.root}\`;
  return verdictOf({ findings: [], unknowns: [{ why }] });
}
`;

function test(value: string): string {
  return `import { describeFault } from '../../../../test/describe-fault.ts';
import { syntheticWorker } from '../../../../test/synthetic-worker.ts';
import { ${value} } from './fault.ts';

describeFault(${value}, {
  nodes: {
    'active-broken': syntheticWorker({ mounts: [] }),
    healthy: syntheticWorker({ mounts: [] }),
  },
});
`;
}

function page(name: string): string {
  const headings = ['Symptom', 'Cause', 'How we know', 'What recovery does', 'Manual steps'];
  return `# ${name}\n\n${headings.map((heading) => `## ${heading}\n`).join('\n')}`;
}

const NEXT = `Next: describe a broken and a healthy node in fault.test.ts, judge them in diagnose.ts, write the page, then npm run generate. CONTRIBUTING.md has the steps.`;

if (import.meta.main) {
  const [name = ''] = process.argv.slice(2);
  for (const path of newFault(name, join(import.meta.dirname, '..'))) console.error(path);
  console.error(NEXT);
}
