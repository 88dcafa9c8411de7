import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { DiagnosisStatus } from '../api/diagnosis.ts';
import { API_VERSION } from '../api/kinds.ts';
import { nodeNameOf } from '../host/node-name.ts';
import { withStepHost } from '../host/step-host.ts';
import type { LiveNode } from '../node/live-node.ts';
import type { OperationResult } from '../operations/operation-result.ts';
import { runOperation } from '../operations/run-operation.ts';
import { type DiagnosisInHand, stepInput } from '../operations/step-input.ts';
import type { Settled } from '../repair/settle-unfinished.ts';
import { printable } from '../std/printable.ts';
import { consentOf } from './consent-of.ts';
import { EXIT } from './exit-codes.ts';
import { showLint } from './lint.ts';
import { lintManifests } from './lint-manifests.ts';
import { manifestsGiven } from './manifests-given.ts';
import { durationMs, type NodeOptions, stateFolderOf } from './options.ts';
import { nodeInHand, stopOnSignal } from './recover.ts';
import {
  type PlannedDiagnosis,
  parametersIn,
  type RunPlan,
  repairIn,
  runPlan,
  targetOf,
} from './run-plan.ts';
import { showSettled } from './show-recovery.ts';
import { yamlText } from './show-report.ts';
import { tellAbandoned } from './tell-abandoned.ts';
import type { Terminal } from './terminal.ts';
import { type Walked, walkDiagnosis } from './walk-diagnosis.ts';

export interface RunOptions extends NodeOptions {
  readonly filename: readonly string[];
  readonly nodeName?: string;
  readonly set?: readonly string[];
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly stateDir?: string;
  readonly output: 'yaml' | 'json';
}

/** `kubediag run -f FILE...`: walks Diagnoses on this node, and shows what came of them. */
export async function run(options: RunOptions, terminal: Terminal): Promise<number> {
  const files = await manifestsGiven(options.filename);
  const report = lintManifests(files);
  if (report.problems.some(({ severity }) => severity === 'problem')) {
    showLint(report, terminal.err, terminal);
    terminal.err('nothing was run\n');
    return EXIT.usage;
  }
  const plan = runPlan(files, parametersIn(options.set ?? []));
  const repair = repairIn(plan);
  if (repair !== undefined && !options.yes && !options.dryRun && !terminal.isInteractive) {
    terminal.err(
      `refused: ${repair} may change this node, and there is no terminal to ask on\n` +
        '  do    run it again with --yes to act, or with --dry-run to only see what it would do\n',
    );
    return EXIT.notDone;
  }
  const here = options.nodeName ?? (await ownName(plan, options));
  const targets = plan.diagnoses.map((each) => targetOf(each, here));
  const stop = stopOnSignal(terminal, 'only a change of the node that has begun is finished first');
  const ended: Ended[] = [];
  for (const [index, diagnosis] of plan.diagnoses.entries()) {
    const hand = inHand(diagnosis, targets[index] ?? here);
    ended.push(await walked(diagnosis, hand, { plan, options, stop }, terminal));
  }
  terminal.out(await textOf(ended, options.output));
  const isDone = ended.every(({ status }) => status.phase === 'Succeeded');
  return isDone ? EXIT.clear : EXIT.notDone;
}

/** As the kubelet calls this node; without one, what the manifest says is believed. */
async function ownName({ diagnoses }: RunPlan, options: RunOptions): Promise<string> {
  const timeoutMs = durationMs('--timeout', options.timeout);
  const told = await nodeNameOf(nodeInHand({ ...options, stateFolder: '' }), timeoutMs);
  return told ?? diagnoses[0]?.spec.nodeName ?? hostname().toLowerCase();
}

function inHand({ metadata, spec }: PlannedDiagnosis, nodeName: string): DiagnosisInHand {
  const uid = randomUUID();
  return {
    namespace: metadata.namespace ?? 'default',
    name: metadata.name ?? `${metadata.generateName ?? ''}${uid.slice(0, 5)}`,
    uid,
    nodeName,
    // A pod's node is written down once it is known.
    spec: spec.targetSelector ? spec : { ...spec, nodeName },
    status: {},
  };
}

interface Running {
  readonly plan: RunPlan;
  readonly options: RunOptions;
  readonly stop: AbortSignal;
}

type Ended = Walked & { readonly diagnosis: DiagnosisInHand; readonly labels: object };

async function walked(
  { metadata, set }: PlannedDiagnosis,
  diagnosis: DiagnosisInHand,
  { plan, options, stop }: Running,
  terminal: Terminal,
): Promise<Ended> {
  const { spec, nodeName } = diagnosis;
  const isDryRun = Boolean(options.dryRun || spec.dryRun);
  const asked = { yes: Boolean(options.yes), isDryRun, recovery: spec.recovery, stop };
  const consent = consentOf(asked, terminal);
  const stateFolder = stateFolderOf(options);
  const wish = { node: nodeInHand({ ...options, stateFolder }), consent, stop };
  const listener = {
    ...terminal,
    onSettled: (settled: readonly Settled[]) => showSettled(settled, terminal),
    onLetGo: (node: LiveNode) => tellAbandoned(node, terminal),
  };
  const runStep = async (name: string, status: DiagnosisStatus): Promise<OperationResult> => {
    const processor = plan.operations.get(name);
    if (!processor) throw new Error(`there is no Operation ${name}`);
    terminal.progress(`running ${name}`);
    const timeoutMs = Math.min(processor.timeoutSeconds * 1_000, restMs(diagnosis, status));
    const input = stepInput({ ...diagnosis, status });
    return withStepHost(
      wish,
      timeoutMs,
      (host) => runOperation({ name, processor, input, timeoutMs, host, isDryRun }),
      listener,
    );
  };
  const end = await walkDiagnosis({
    spec,
    nodeName,
    set,
    stop,
    hasOperation: (name) => plan.operations.has(name),
    run: ({ operation = '' }, status) => runStep(operation, status),
    onStatus: tellSteps(diagnosis, terminal),
  });
  if (end.waits !== undefined) terminal.err(`${diagnosis.name}: not run: ${end.waits}\n`);
  return { ...end, diagnosis, labels: metadata.labels ?? {} };
}

/** What is left of the time for the whole, for a step that is about to begin. */
function restMs({ spec }: DiagnosisInHand, { startTime = '' }: DiagnosisStatus): number {
  const { deadlineSeconds } = spec;
  if (deadlineSeconds === undefined) return Number.POSITIVE_INFINITY;
  return Math.max(Date.parse(startTime) + deadlineSeconds * 1_000 - Date.now(), 1);
}

/** One line for each step as it ends. */
function tellSteps({ name }: DiagnosisInHand, { hint }: Terminal) {
  let told = 0;
  return ({ steps = [] }: DiagnosisStatus): void => {
    for (const { operation, outcome, message } of steps.slice(told)) {
      const why = message === undefined ? '' : `: ${message}`;
      hint(`${printable(`${name}  ${outcome.padEnd(9)}  ${operation}${why}`)}\n`);
    }
    told = steps.length;
  };
}

async function textOf(ended: readonly Ended[], format: 'yaml' | 'json'): Promise<string> {
  const [first, ...others] = ended.map(objectOf);
  const whole =
    others.length === 0 ? first : { apiVersion: 'v1', kind: 'List', items: [first, ...others] };
  return format === 'json' ? `${JSON.stringify(whole, null, 2)}\n` : yamlText(whole);
}

function objectOf({ diagnosis, labels, hash, status }: Ended): object {
  const { namespace, name, uid, spec } = diagnosis;
  const hashed = hash === undefined ? {} : { 'adjacency-list-hash': hash };
  return {
    apiVersion: API_VERSION,
    kind: 'Diagnosis',
    metadata: { name, namespace, uid, labels: { ...labels, ...hashed } },
    spec,
    status,
  };
}
