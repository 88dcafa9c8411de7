import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { EXECUTABLE } from '../test/rig/run-kubediag.ts';
import { agentRows } from './bench/agent.ts';
import { busyNodeRows } from './bench/busy-node.ts';
import { clusterAgentRows, nodeConditionRows } from './bench/cluster-agent.ts';
import { controllerRows } from './bench/controller.ts';
import { diagnosisRateRows } from './bench/diagnosis-rate.ts';
import { fanOutRows } from './bench/fan-out.ts';
import { goroutineDumpRows } from './bench/goroutine-dump.ts';
import { hungNodeRows } from './bench/hung-node.ts';
import { kubeletLogRows } from './bench/kubelet-log.ts';
import { leftoverRows } from './bench/leftovers.ts';
import { mountNamespaceRows } from './bench/mount-namespaces.ts';
import { mountTableRows } from './bench/mount-table.ts';
import { operationGraphRows } from './bench/operation-graph.ts';
import { failed, jsonOf, notRun, type Row, tableOf } from './bench/row.ts';
import { startRows } from './bench/start.ts';
import { fuse, kubernetes, missingFor, type Need, namespaces, root } from './test-suites.ts';

/** Measures what we promise of speed and size, and ends with 1 when a bar is missed. */

interface Group {
  readonly name: string;
  readonly needs: readonly Need[];
  readonly rows: () => Promise<readonly Row[]>;
}

const groups: readonly Group[] = [
  { name: 'start', needs: [], rows: startRows },
  { name: 'mount table', needs: [], rows: () => inScratch(mountTableRows) },
  { name: 'kubelet log', needs: [], rows: () => inScratch(kubeletLogRows) },
  { name: 'goroutine dump', needs: [], rows: () => inScratch(goroutineDumpRows) },
  { name: 'operation graph', needs: [], rows: operationGraphRows },
  { name: 'Diagnoses', needs: [], rows: () => inScratch(diagnosisRateRows) },
  { name: 'standing agent', needs: [root], rows: agentRows },
  { name: 'mounts of all namespaces', needs: [root, namespaces], rows: mountNamespaceRows },
  { name: 'leftover directories', needs: [root, namespaces], rows: leftoverRows },
  { name: 'check of a busy node', needs: [root, namespaces], rows: busyNodeRows },
  {
    name: 'agent pod',
    needs: [root, namespaces, kubernetes],
    rows: () => inScratch(clusterAgentRows),
  },
  {
    name: 'node condition',
    needs: [root, namespaces, fuse, kubernetes],
    rows: () => inScratch(nodeConditionRows),
  },
  {
    name: 'controller',
    needs: [root, namespaces, kubernetes],
    rows: () => inScratch(controllerRows),
  },
  {
    name: 'fan-out',
    needs: [root, namespaces, kubernetes],
    rows: () => inScratch(fanOutRows),
  },
  { name: 'check of a hung node', needs: [root, namespaces, fuse], rows: hungNodeRows },
];

async function inScratch(
  rows: (scratch: string) => Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  const scratch = mkdtempSync(join(tmpdir(), 'kubediag-bench-'));
  try {
    return await rows(scratch);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function rowsOf({ name, needs, rows }: Group): Promise<readonly Row[]> {
  const missing = await missingFor(needs);
  if (missing) return [notRun(name, missing)];
  try {
    return await rows();
  } catch (error) {
    // The others are still worth measuring.
    console.error(error);
    return [failed(name, error instanceof Error ? error.message : String(error))];
  }
}

const SOURCES = join(import.meta.dirname, '../src');

function buildIfOld(): void {
  const builtMs = existsSync(EXECUTABLE) ? statSync(EXECUTABLE).mtimeMs : 0;
  const isOld = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).some(
    (path) => statSync(join(SOURCES, path)).mtimeMs > builtMs,
  );
  if (!isOld) return;
  const text = [join(import.meta.dirname, 'build.ts')];
  execFileSync(process.execPath, text, { stdio: ['ignore', 'ignore', 'inherit'] });
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { output: { type: 'string', short: 'o' } },
});
if (values.output !== undefined && values.output !== 'json') {
  throw new Error(`-o ${values.output}: json is the only other output`);
}
const unknown = positionals.find((name) => groups.every((group) => group.name !== name));
if (unknown !== undefined) {
  const names = groups.map(({ name }) => `"${name}"`).join(', ');
  throw new Error(`no group "${unknown}"; there are ${names}`);
}
buildIfOld();
const rows: Row[] = [];
const isWanted = ({ name }: Group) => positionals.length === 0 || positionals.includes(name);
for (const group of groups.filter(isWanted)) {
  if (process.stderr.isTTY) process.stderr.write(`measuring: ${group.name}\n`);
  rows.push(...(await rowsOf(group)));
}
process.stdout.write(values.output === 'json' ? jsonOf(rows) : tableOf(rows));
process.exitCode = rows.every(({ ok }) => ok) ? 0 : 1;
