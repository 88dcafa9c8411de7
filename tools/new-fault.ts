import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

// swollen-journal
const NAME = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)+$/;
// import { staleSubpathMount } from './stale-subpath-mount/fault.ts';
const IMPORT = /^import \{ (\w+) \} from '\.\/([a-z0-9-]+)\/fault\.ts';$/gm;

/** threshold, signature: described in `fault.ts` alone. custom: judged by a function of its own. */
export const KINDS = ['threshold', 'signature', 'custom'] as const;
export type Kind = (typeof KINDS)[number];

/** The skeleton of a fault: it compiles, says `unknown`, and has a test that fails until it is written. */
export function newFault(name: string, kind: Kind, project: string): readonly string[] {
  if (!KINDS.includes(kind)) throw new Error(`--kind is one of ${KINDS.join(', ')}, not "${kind}"`);
  if (!NAME.test(name))
    throw new Error(`"${name}" is no name: two words or more, such as stale-mount`);
  const folder = join('src/node/faults', name);
  if (existsSync(join(project, folder))) throw new Error(`${folder} is there already`);
  const value = name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
  const files = new Map([
    ['fault.ts', FAULTS[kind](name, value)],
    ...(kind === 'custom' ? [['diagnose.ts', DIAGNOSE] as const] : []),
    ['fault.test.ts', kind === 'threshold' ? thresholdTest(value) : test(value)],
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
  const listed = following[0] ? `\n  ${following[0][1]},` : '\n].toSorted';
  return text.replace(after, line + after).replace(listed, `\n  ${value},${listed}`);
}

const FAULTS: Readonly<Record<Kind, (name: string, value: string) => string>> = {
  custom: (name, value) => `import { kubelet } from '../../evidence/kubelet/kubelet.ts';
import { defineFault } from '../../model/fault.ts';
import { diagnose, reasons } from './diagnose.ts';

export const ${value} = defineFault({
  ${manifest(name)}
  stage: 'nursery',
  reasons,
  needs: { kubelet },
  diagnose,
});
`,
  // Numbers of the kernel are of the moment: no text that somebody sent can show them.
  threshold: (
    name,
    value,
  ) => `import { type KernelNumber, kernelNumber } from '../../evidence/kernel/kernel-number.ts';
import { defineEvidence } from '../../model/evidence.ts';
import { defineShortFault } from '../short-fault.ts';
import { threshold } from '../threshold.ts';

const evidence = defineEvidence<{ used: KernelNumber; limit: KernelNumber }>({
  id: '${name}-use',
  title: 'What is measured',
  collect: async (snapshot) => ({
    used: await kernelNumber(snapshot, '/proc/sys/FILE_USED', 'in use'),
    limit: await kernelNumber(snapshot, '/proc/sys/FILE_LIMIT', 'the limit'),
  }),
});

export const ${value} = defineShortFault({
  ${manifest(name)}
  isOfTheMoment: true,
  isOfTheNode: true,
  checks: [
    threshold({
      evidence,
      measure: ({ used, limit }) => [
        {
          value: used.value,
          warnAt: limit.value * 0.8,
          failAt: limit.value,
          proof: [used.proof, limit.proof],
        },
      ],
      fail: {
        reason: '${reasonOf(name)}',
        means: 'What the reason means, for the reference.',
        summary: ({ value, failAt }) => \`All are in use: \${value} of \${failAt}.\`,
      },
      warn: {
        reason: '${reasonOf(name)}Soon',
        means: 'What the reason means, for the reference.',
        summary: ({ value, failAt }) => \`\${value} of \${failAt} are in use.\`,
      },
    }),
  ],
  ${COMMON}
});
`,
  signature: (name, value) => `import { kernelLog } from '../../evidence/logs/kernel-log.ts';
import { defineShortFault } from '../short-fault.ts';
import { signature } from '../signature.ts';

export const ${value} = defineShortFault({
  ${manifest(name)}
  isOfTheNode: true,
  checks: [
    signature({
      log: kernelLog,
      signature: {
        id: '${name}',
        log: 'kernel',
        literals: ['A TEXT THAT EVERY SUCH LINE CONTAINS'],
        // A REAL LINE THAT THE PATTERN MATCHES: sda
        patterns: [/A TEXT THAT EVERY SUCH LINE CONTAINS: (?<what>\\S+)/],
      },
      withinMs: 10 * 60_000,
      recent: {
        reason: '${reasonOf(name)}',
        means: 'What the reason means, for the reference.',
        summary: ({ last }) => \`It happened to \${last.fields.what}.\`,
      },
    }),
  ],
  ${COMMON}
});
`,
};

function manifest(name: string): string {
  return `id: '${name}',
  title: 'What is broken, in one line',
  severity: 'degraded',
  references: [],
  affected: [],`;
}

/** What every finding of a short fault says. */
const COMMON = `blastRadius: 'what fails while the node has the fault',
  excluded: ['a state that looks like it, and how it was ruled out'],
  steps: [{ text: 'risk: what can go wrong' }, { command: 'sysctl --write NAME=VALUE' }],`;

// SwollenJournal
function reasonOf(name: string): string {
  return name.replace(/(?:^|-)(.)/g, (_, letter: string) => letter.toUpperCase());
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

function thresholdTest(value: string): string {
  return `import { describeFault } from '../../../../test/describe-fault.ts';
import { syntheticWorker } from '../../../../test/synthetic-worker.ts';
import { ${value} } from './fault.ts';

const used = (count: number) =>
  syntheticWorker({})
    .file('/proc/sys/FILE_USED', \`\${count}\\n\`)
    .file('/proc/sys/FILE_LIMIT', '100\\n');

describeFault(${value}, {
  nodes: {
    // Replace the numbers by those of a broken and of a nearly broken node.
    'active-broken': used(0),
    'latent-soon': used(0),
    healthy: used(0),
  },
  optionalReads: [{ reads: /^(?!.*FILE_)/, why: 'only the two numbers decide' }],
});
`;
}

function page(name: string): string {
  const headings = ['Symptom', 'Cause', 'How we know', 'What recovery does', 'Manual steps'];
  return `# ${name}\n\n${headings.map((heading) => `## ${heading}\n`).join('\n')}`;
}

const JUDGE: Readonly<Record<Kind, string>> = {
  threshold: 'read the two numbers and set the limits in fault.ts',
  signature: 'write the pattern of the line in fault.ts',
  custom: 'judge them in diagnose.ts',
};

const USAGE = `Usage: npm run new-fault -- NAME --kind KIND

Create the skeleton of a fault. NAME has two words or more, such as stale-mount. KIND is one of:
  threshold  a number near its limit, or two facts that should agree
  signature  a line in the log of the kubelet or the kernel
  custom     everything else, and every fault with a repair (the default)`;

/** Answers with the exit code. */
function main(): number {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        kind: { type: 'string', default: 'custom' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    const [name] = positionals;
    if (values.help || name === undefined) {
      console.error(USAGE);
      return values.help ? 0 : 64;
    }
    const kind = values.kind as Kind;
    for (const path of newFault(name, kind, join(import.meta.dirname, '..'))) console.error(path);
    console.error(
      `Next: describe a broken and a healthy node in fault.test.ts, ${JUDGE[kind]}, write the page, then npm run generate. CONTRIBUTING.md has the steps.`,
    );
    return 0;
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    return 64;
  }
}

if (import.meta.main) process.exitCode = main();
