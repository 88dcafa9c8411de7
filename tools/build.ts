import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { inject } from 'postject';
import { faults } from '../src/node/faults/index.ts';

const PROJECT = join(import.meta.dirname, '..');
/** Of this build alone: another one may run beside it. */
const WORK = join(PROJECT, `dist/work-${process.pid}`);
const EXECUTABLE = join(PROJECT, 'dist/kubediag');
/** What the kubelet of a practice node answers when it is asked what it is doing. */
const DUMPS = join(PROJECT, 'lab/kubelet/dumps');

/** The word by which Node finds out that something was put into it. */
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

/**
 * How much new memory is filled before it is swept, in megabytes. A check retains most of what it reads,
 * so V8 would take 16 for that at its peak, in the check and again in its reader; with 2 a check of a
 * full node needs a tenth less memory, and no more time.
 */
const YOUNG_MEMORY = '--max-semi-space-size=2';

/**
 * Makes the one executable: all sources in one file, compiled ahead of time (code cache) for exactly
 * the Node that carries it, the pages as assets. Needs no network and no Node on the machine it runs on.
 */
async function buildExecutable(): Promise<void> {
  mkdirSync(WORK, { recursive: true });
  await bundleSources();
  const carrier = join(WORK, 'kubediag');
  copyFileSync(process.execPath, carrier);
  chmodSync(carrier, 0o755);
  strip(carrier);
  const blob = makeBlob();
  await withoutNoise(() => inject(carrier, 'NODE_SEA_BLOB', blob, { sentinelFuse: FUSE }));
  // Copied once more: what was written in one piece lies in the file cache in large pieces, and a
  // process that runs it would be counted for all of them, 20 MB more than it touches.
  const copy = join(WORK, 'copy');
  copyFileSync(carrier, copy);
  // In one step, so that a running one is never half written.
  renameSync(copy, EXECUTABLE);
  const megabytes = (statSync(EXECUTABLE).size / 1_000_000).toFixed(0);
  console.error(`built dist/kubediag, ${megabytes} MB`);
}

/**
 * CommonJS, not ESM: only that can have a code cache, and it starts faster. Only ASCII: V8 stores a
 * source with one character above U+00FF in two bytes each, 2 MB more in every process. esbuild
 * escapes such characters in strings, but not in regular expressions.
 */
async function bundleSources(): Promise<void> {
  await build({
    entryPoints: [join(PROJECT, 'src/main.ts')],
    outfile: join(WORK, 'main.cjs'),
    bundle: true,
    minify: true,
    keepNames: true,
    platform: 'node',
    format: 'cjs',
    target: 'node24',
    define: { 'import.meta.dirname': '__dirname' },
    legalComments: 'none',
    logLevel: 'warning',
  });
  const text = readFileSync(join(WORK, 'main.cjs'), 'utf8');
  const [other] = /[^\0-\x7f].{0,60}/.exec(text) ?? [];
  if (other !== undefined) throw new Error(`the bundle is not ASCII at: ${other}`);
}

/** Debug symbols are a sixth of it. Before the injection: afterwards it would destroy the file. */
function strip(carrier: string): void {
  try {
    execFileSync('strip', [carrier]);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    console.error('no `strip` on this machine: the executable includes debug symbols');
  }
}

// warning: Can't find string offset for section name '.note.100'
const NOISE = /^warning: Can't find string offset for section name '[.]note/;

/** The injector says this of every name that it gives to a section, and says it a dozen times. */
async function withoutNoise(work: () => Promise<void>): Promise<void> {
  const { warn } = console;
  console.warn = (...args: unknown[]) => {
    if (!NOISE.test(String(args[0]))) warn(...args);
  };
  try {
    await work();
  } finally {
    console.warn = warn;
  }
}

function makeBlob(): Buffer {
  const output = join(WORK, 'main.blob');
  const pages = faults.map(({ id }) => [
    `pages/${id}.md`,
    join(PROJECT, 'src/node/faults', id, 'README.md'),
  ]);
  const dumps = readdirSync(DUMPS).map((name) => [`dumps/${name}`, join(DUMPS, name)]);
  const config = {
    main: join(WORK, 'main.cjs'),
    output,
    disableExperimentalSEAWarning: true,
    useCodeCache: true,
    // What a shell has set for other programs of Node (NODE_OPTIONS, certificates that are gone)
    // may neither load code into this one nor write warnings between its lines.
    execArgv: ['--no-warnings', YOUNG_MEMORY],
    execArgvExtension: 'none',
    assets: {
      ...(Object.fromEntries([...pages, ...dumps]) as Record<string, string>),
      'collector.sh': join(PROJECT, 'src/hosts/cli/commands/collector.sh'),
    },
  };
  writeFileSync(join(WORK, 'sea.json'), JSON.stringify(config));
  // The code cache fits only the very binary that made it.
  execFileSync(process.execPath, ['--experimental-sea-config', join(WORK, 'sea.json')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  return readFileSync(output);
}

await buildExecutable().finally(() => rmSync(WORK, { recursive: true, force: true }));
