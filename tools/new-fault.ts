import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
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
    throw new Error(
      `"${name}" is not a valid name: use lower case and hyphens, two words or more, as in stale-mount`,
    );
  const folder = join('src/node/faults', name);
  if (existsSync(join(project, folder))) throw new Error(`${folder} exists already`);
  const value = name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
  const index = 'src/node/faults/index.ts';
  const files = new Map([
    [`${folder}/fault.ts`, FAULTS[kind](name, value)],
    ...(kind === 'custom' ? [[`${folder}/diagnose.ts`, DIAGNOSE] as const] : []),
    [`${folder}/fault.test.ts`, testOf(name, value)],
    [`${folder}/README.md`, page(name, kind)],
    [`test/faults/${name}.ts`, NODES[kind]],
    [index, withFault(readFileSync(join(project, index), 'utf8'), name, value)],
  ]);
  for (const [file, text] of files) {
    mkdirSync(dirname(join(project, file)), { recursive: true });
    writeFileSync(join(project, file), text);
  }
  return [...files.keys()];
}

/** The list of faults with one more, in the order of their directories. */
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
      // TODO: the files; if one has several numbers, \`pattern\` picks one: pattern: /^(\\d+)/
      used: { path: '/proc/sys/TODO_used', claim: 'in use' },
      limit: { path: '/proc/sys/TODO_limit', claim: 'the limit' },
      warnAt: 0.8,
      fail: {
        reason: '${reasonOf(name)}',
        means: 'TODO: what the reason means.',
        summary: ({ value, max }) => \`TODO: all are in use: \${value} of \${max}.\`,
      },
      warn: {
        reason: '${nearlyReasonOf(name)}',
        means: 'TODO: at least 80 % are in use.',
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
  // TODO: broken if pods fail, degraded if they run with less, info if nobody has to act
  severity: 'degraded',
  references: ['TODO: the address of an issue or of a document'],
  affected: [
    { component: 'TODO: Linux, or kubelet', versions: 'all', behaviour: 'TODO: what it does' },
  ],`;
}

/** What every finding of a short fault says. */
const COMMON = `blastRadius: 'TODO: what fails while the node has the fault',
  excluded: ['TODO: a state that looks like it, and how it was ruled out'],
  risk: 'TODO: what the steps can damage or interrupt',`;

const STEPS =
  "steps: [{ text: 'TODO: what a person does' }, { command: 'TODO: a command to copy' }],";

// SwollenJournal
function reasonOf(name: string): string {
  return name.replace(/(?:^|-)(.)/g, (_, letter: string) => letter.toUpperCase());
}

// ConntrackTableNearlyFull
function nearlyReasonOf(name: string): string {
  return reasonOf(name.replace(/-([a-z0-9]+)$/, '-nearly-$1'));
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

function testOf(name: string, value: string): string {
  return `import { describeFault } from '../../../../test/describe-fault.ts';
import { nodes } from '../../../../test/faults/${name}.ts';
import { ${value} } from './fault.ts';

describeFault(${value}, { nodes: nodes() });
`;
}

function nodesFile(maker: string, ...nodes: readonly string[]): string {
  return `import type { SyntheticNodes } from '../synthetic-node.ts';
import { syntheticWorker } from '../synthetic-worker.ts';
${maker}
export function nodes(): SyntheticNodes {
  return {
    ${nodes.join('\n    ')}
  };
}
`;
}

// The files of a healthy node are not yet in addKernel: until then the description adds them.
const NODES: Readonly<Record<Kind, string>> = {
  threshold: nodesFile(
    `
// TODO: move both files, with usual values, to addKernel in test/synthetic-worker.ts
const worker = () =>
  syntheticWorker({}).file('/proc/sys/TODO_used', '5\\n').file('/proc/sys/TODO_limit', '100\\n');
const used = (count: number) => worker().file('/proc/sys/TODO_used', \`\${count}\\n\`);
`,
    'healthy: worker(),',
    "'active-full': used(100),",
    "'latent-nearly-full': used(80),",
    "'look-alike-below-the-warning': used(79),",
    "'unclear-not-a-number': worker().file('/proc/sys/TODO_limit', 'many\\n'),",
  ),
  comparison: nodesFile(
    `
// TODO: move both files, with usual values, to addKernel in test/synthetic-worker.ts
const worker = () =>
  syntheticWorker({}).file('/proc/sys/TODO_is', '1\\n').file('/proc/sys/TODO_expected', '1\\n');
`,
    'healthy: worker(),',
    "'active-differs': worker().file('/proc/sys/TODO_is', '2\\n'),",
    '// TODO: a node that looks like a broken one',
    "'look-alike-other-but-equal': worker()",
    "  .file('/proc/sys/TODO_is', '2\\n')",
    "  .file('/proc/sys/TODO_expected', '2\\n'),",
    "'unclear-not-a-number': worker().file('/proc/sys/TODO_is', 'many\\n'),",
  ),
  signature: nodesFile(
    `
const logged = (time: string) =>
  syntheticWorker({
    kernelLog: [\`\${time} worker-7 kernel: TODO a text of every such line: sda\`],
  });
`,
    'healthy: syntheticWorker({}),',
    "'active-logged': logged('2026-01-02T03:00:00+0000'),",
    "'look-alike-logged-yesterday': logged('2026-01-01T03:00:00+0000'),",
    "'unclear-empty-log': syntheticWorker({ kernelLog: [] }),",
  ),
  custom: nodesFile(
    '',
    '// TODO: a broken node, and every state that looks like it',
    'healthy: syntheticWorker({}),',
    "'active-broken': syntheticWorker({ mounts: [] }),",
    "'look-alike-broken': syntheticWorker({}),",
    "'unclear-no-file': syntheticWorker({}).missing('file', '/proc/TODO'),",
  ),
};

const SECTIONS = {
  Symptom: 'what a person sees: the state of pods, and lines of logs, literally',
  Cause: 'what the kernel or the kubelet does, and what brings a node into this state',
  'How we know': 'what is read, what is active, latent and benign, and what looks like it',
  'What recovery does': 'each action, and what it leaves alone',
  'Manual steps': 'commands, what they can damage or interrupt, and how to keep the change',
};

function page(name: string, kind: Kind): string {
  const sections = Object.entries(SECTIONS)
    .filter(([heading]) => kind === 'custom' || heading !== 'What recovery does')
    .map(([heading, holds]) => `## ${heading}\n\nTODO: ${holds}\n`);
  return `# ${name}\n\n${sections.join('\n')}`;
}

const USAGE = `Usage: npm run new-fault -- NAME --kind KIND

Create the skeleton of a fault. NAME has two words or more, such as stale-mount. KIND is one of:
  threshold   a number near its limit
  signature   a line in the log of the kubelet or the kernel
  comparison  two facts that should agree
  custom      everything else, and every fault with a repair (the default)`;

function nextSteps(name: string): string {
  return `Next:
  1. npm test -- src/node/faults/${name} lists each TODO, and writes the golden files when none is left.
  2. Add what the fault reads of every node to addKernel in test/synthetic-worker.ts.
  3. npm run fixtures && npm start -- replay dist/fixtures/${name}/FIXTURE ${name} shows the report.
  4. Add a line to README.md and to CHANGELOG.md, and run npm run generate.
CONTRIBUTING.md has the whole list.`;
}

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
    console.error(nextSteps(name));
    return 0;
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    return 64;
  }
}

if (import.meta.main) process.exitCode = main();
