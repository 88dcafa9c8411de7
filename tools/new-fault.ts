import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

// swollen-journal
const NAME = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)+$/;
// import { staleSubpathMount } from './stale-subpath-mount/fault.ts';
const IMPORT = /^import \{ (\w+) \} from '\.\/([a-z0-9-]+)\/fault\.ts';$/gm;

/** All but custom are described in `fault.ts` alone. custom: judged by a function of its own. */
export const KINDS = ['threshold', 'signature', 'comparison', 'custom'] as const;
export type Kind = (typeof KINDS)[number];

/** The skeleton of a fault: it compiles, and its own test lists what is left to write. */
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
    ['fault.test.ts', testOf(kind, value)],
    ['README.md', page(name, kind)],
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
  threshold: (name, value) => `import { kernelUse, raiseSysctl } from '../checks.ts';
import { defineShortFault } from '../short-fault.ts';

export const ${value} = defineShortFault({
  ${manifest(name)}
  checks: [
    kernelUse({
      id: '${name}-use',
      title: 'TODO: what is counted',
      used: { path: '/proc/sys/TODO_used', claim: 'in use' },
      limit: { path: '/proc/sys/TODO_limit', claim: 'the limit' },
      warnAt: 0.8,
      fail: {
        reason: '${reasonOf(name)}',
        means: 'TODO: what the reason means.',
        summary: ({ value, max }) => \`TODO: all are in use: \${value} of \${max}.\`,
      },
      warn: {
        reason: '${reasonOf(name)}Soon',
        means: 'TODO: what the reason means.',
        summary: ({ value, max }) => \`TODO: \${value} of \${max} are in use.\`,
      },
    }),
  ],
  ${COMMON}
  steps: ({ max }) => [raiseSysctl('TODO.name', max)],
});
`,
  comparison: (
    name,
    value,
  ) => `import { kernelNumber } from '../../evidence/kernel/kernel-number.ts';
import { defineEvidence } from '../../model/evidence.ts';
import { comparison } from '../checks.ts';
import { defineShortFault } from '../short-fault.ts';

const evidence = defineEvidence({
  id: '${name}-facts',
  title: 'TODO: what is compared',
  collect: async (snapshot) => ({
    is: await kernelNumber(snapshot, { path: '/proc/sys/TODO_is', claim: 'it is' }),
    expected: await kernelNumber(snapshot, { path: '/proc/sys/TODO_expected', claim: 'expected' }),
  }),
});

export const ${value} = defineShortFault({
  ${manifest(name)}
  checks: [
    comparison({
      evidence,
      compare: ({ is, expected }) => [
        { is: is.proof, expected: expected.proof, agrees: is.value === expected.value },
      ],
      differs: {
        reason: '${reasonOf(name)}',
        means: 'TODO: what the reason means.',
        summary: ({ is, expected }) => \`TODO: it is \${is.text} instead of \${expected.text}.\`,
      },
    }),
  ],
  ${COMMON}
  ${STEPS}
});
`,
  signature: (name, value) => `import { signature } from '../checks.ts';
import { defineShortFault } from '../short-fault.ts';

export const ${value} = defineShortFault({
  ${manifest(name)}
  checks: [
    signature({
      id: '${name}',
      log: 'kernel',
      literals: ['TODO a text of every such line'],
      example: 'TODO a text of every such line: sda',
      // As in the example.
      patterns: [/TODO a text of every such line: (?<what>\\S+)/],
      withinMs: 10 * 60_000,
      recent: {
        reason: '${reasonOf(name)}',
        means: 'TODO: what the reason means.',
        summary: ({ last }) => \`TODO: it happened to \${last.fields.what}.\`,
      },
    }),
  ],
  ${COMMON}
  ${STEPS}
});
`,
};

function manifest(name: string): string {
  return `id: '${name}',
  title: 'TODO: what is broken, in one line',
  severity: 'degraded',
  references: [],
  affected: [],`;
}

/** What every finding of a short fault says. */
const COMMON = `blastRadius: 'TODO: what fails while the node has the fault',
  excluded: ['TODO: a state that looks like it, and how it was ruled out'],
  risk: 'TODO: what the steps can do harm to',`;

const STEPS =
  "steps: [{ text: 'TODO: what a person does' }, { command: 'TODO: a command to copy' }],";

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
  const why = \`TODO: nobody has written yet how to judge the kubelet at \${kubelet.root}\`;
  return verdictOf({ findings: [], unknowns: [{ why }] });
}
`;

function testOf(kind: Kind, value: string): string {
  return `import { describeFault } from '../../../../test/describe-fault.ts';
import { syntheticWorker } from '../../../../test/synthetic-worker.ts';
import { ${value} } from './fault.ts';
${MAKERS[kind]}
describeFault(${value}, {
  nodes: {
    ${NODES[kind].join('\n    ')}
  },
});
`;
}

const MAKERS: Readonly<Record<Kind, string>> = {
  threshold: `
const used = (count: number) =>
  syntheticWorker({})
    .file('/proc/sys/TODO_used', \`\${count}\\n\`)
    .file('/proc/sys/TODO_limit', '100\\n');
`,
  comparison: `
const node = (is: number) =>
  syntheticWorker({})
    .file('/proc/sys/TODO_is', \`\${is}\\n\`)
    .file('/proc/sys/TODO_expected', '1\\n');
`,
  signature: `
const logged = (time: string) =>
  syntheticWorker({
    kernelLog: [\`\${time} worker-7 kernel: TODO a text of every such line: sda\`],
  });
`,
  custom: '',
};

const NODES: Readonly<Record<Kind, readonly string[]>> = {
  threshold: ["'active-full': used(100),", "'latent-nearly-full': used(80),", 'healthy: used(79),'],
  comparison: ["'active-differs': node(2),", 'healthy: node(1),'],
  signature: [
    "'active-logged': logged('2026-01-02T03:00:00+0000'),",
    "'look-alike-long-ago': logged('2026-01-01T03:00:00+0000'),",
    'healthy: syntheticWorker({}),',
  ],
  custom: [
    '// TODO: a broken node, a healthy one, and every look-alike',
    "'active-broken': syntheticWorker({ mounts: [] }),",
    'healthy: syntheticWorker({ mounts: [] }),',
  ],
};

function page(name: string, kind: Kind): string {
  const recovery = kind === 'custom' ? ['What recovery does'] : [];
  const headings = ['Symptom', 'Cause', 'How we know', ...recovery, 'Manual steps'];
  return `# ${name}\n\n${headings.map((heading) => `## ${heading}\n\nTODO\n`).join('\n')}`;
}

const USAGE = `Usage: npm run new-fault -- NAME --kind KIND

Create the skeleton of a fault. NAME has two words or more, such as stale-mount. KIND is one of:
  threshold   a number near its limit
  signature   a line in the log of the kubelet or the kernel
  comparison  two facts that should agree
  custom      everything else, and every fault with a repair (the default)`;

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
      `Next: run npm test -- src/node/faults/${name}, which lists each TODO; then npm run generate. CONTRIBUTING.md has the steps.`,
    );
    return 0;
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    return 64;
  }
}

if (import.meta.main) process.exitCode = main();
