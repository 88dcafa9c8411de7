import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { jsonText, textAt } from '../../../lib/std/json.ts';
import { printable } from '../../../lib/std/printable.ts';
import { Semaphore } from '../../../lib/std/semaphore.ts';
import { stopOnSignal } from '../../../lib/terminal/stop-on-signal.ts';
import { EXIT, type Terminal, UsageError } from '../../../lib/terminal/terminal.ts';
import type { DiagnosisSpec, DiagnosisStatus } from '../../../pipeline/api/diagnosis.ts';
import { API_VERSION } from '../../../pipeline/api/kinds.ts';
import { assignIn } from '../../../pipeline/diagnosis/assign.ts';
import { driveDiagnosis } from '../../../pipeline/diagnosis/drive-diagnosis.ts';
import {
  completeResults,
  largeResultsInMemory,
} from '../../../pipeline/diagnosis/large-results.ts';
import { seenOperation } from '../../../pipeline/diagnosis/operation-lookup.ts';
import { withLargeResults } from '../../../pipeline/diagnosis/with-large-results.ts';
import { leftOutOn } from '../../../pipeline/graph/left-out.ts';
import { READING_STEPS_MAX } from '../../../pipeline/operations/limits.ts';
import { podLookup, stepsOn } from '../../../pipeline/operations/run-step.ts';
import type { RunStep } from '../../../pipeline/steps/step-to-run.ts';
import { openMemoryStore } from '../../../pipeline/store/sqlite-store.ts';
import type { StoredObject } from '../../../pipeline/store/store.ts';
import { answerOf } from '../../../pipeline/store/store-answer.ts';
import { nodeNameOf } from '../../local-node/open-live-node.ts';
import { stepHosts } from '../../local-node/step-host.ts';
import { durationMs, type NodeOptions } from '../command-line/options.ts';
import {
  type ManifestOptions,
  VALIDATE_MODES,
  type ValidateMode,
} from '../command-line/shared-options.ts';
import { managedNode, reportAbandoned } from '../input/open-node.ts';
import { consentOf } from '../manifests/consent-of.ts';
import { lintManifests } from '../manifests/lint-manifests.ts';
import { manifestsGiven } from '../manifests/manifests-given.ts';
import {
  type PlannedDiagnosis,
  parametersIn,
  type RunPlan,
  repairIn,
  runPlan,
  targetOf,
} from '../manifests/run-plan.ts';
import { labelLine, resultSection } from '../screens/described-lines.ts';
import { diagnosisSummary } from '../screens/diagnosis-summary.ts';
import { showSettled } from '../screens/show-recovery.ts';
import { yamlText } from '../screens/show-report.ts';
import { showLint } from './lint.ts';

export interface RunOptions extends NodeOptions, ManifestOptions {
  readonly validate?: ValidateMode;
  readonly nodeName?: string;
  readonly set?: readonly string[];
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly stateDir?: string;
  /** Absent: a summary for a person. */
  readonly output?: 'yaml' | 'json';
}

export async function run(options: RunOptions, terminal: Terminal): Promise<number> {
  const files = await manifestsGiven(options);
  const validation = VALIDATE_MODES[options.validate ?? 'strict'];
  const report = lintManifests(files, validation);
  if (report.problems.some(({ severity }) => severity === 'problem')) {
    showLint(report, terminal.err, terminal);
    terminal.err('nothing was run\n');
    return EXIT.usage;
  }
  const plan = runPlan(files, parametersIn(options.set ?? []), validation);
  const repair = repairIn(plan);
  if (repair !== undefined && !options.yes && !options.dryRun && !terminal.isInteractive) {
    terminal.err(
      `refused: ${repair} may change this node, and there is no terminal to ask on\n` +
        '  do    repeat with --yes to act, or with --dry-run to see what it would do\n',
    );
    return EXIT.notDone;
  }
  const here = options.nodeName ?? (await ownName(plan, options));
  // Each is checked before the first is run.
  const targets = plan.diagnoses.map((each) => targetOf(each, here));
  const stop = stopOnSignal(terminal, 'an action that has begun is finished first');
  const ended: Ended[] = [];
  for (const [index, diagnosis] of plan.diagnoses.entries()) {
    const running = { plan, options, stop, nodeName: targets[index] ?? here };
    ended.push(await runDiagnosis(diagnosis, running, terminal));
  }
  terminal.out(await textOf(ended, options.output, terminal));
  // On a healthy node the step that searches for a fault fails: that is a success of the command.
  const isDone = ended.every(
    ({ status: { phase, result } }) => phase === 'Succeeded' || result === 'NothingFound',
  );
  return isDone ? EXIT.clear : EXIT.notDone;
}

/** The name that the kubelet uses; without a kubelet that of the manifest. */
async function ownName({ diagnoses }: RunPlan, options: RunOptions): Promise<string> {
  const timeoutMs = durationMs('--timeout', options.timeout);
  const reported = await nodeNameOf(managedNode(options), timeoutMs);
  return reported ?? diagnoses[0]?.spec.nodeName ?? hostname().toLowerCase();
}

interface Running {
  readonly plan: RunPlan;
  readonly options: RunOptions;
  /** Ctrl-C cancels the Diagnosis. */
  readonly stop: AbortSignal;
  readonly nodeName: string;
}

interface Ended {
  readonly object: StoredObject;
  /** With all results in full: it is not stored. */
  readonly status: DiagnosisStatus;
}

/** Runs a Diagnosis to its end as an agent does, with a store in memory. */
async function runDiagnosis(
  { metadata, set, ...planned }: PlannedDiagnosis,
  running: Running,
  terminal: Terminal,
): Promise<Ended> {
  const { plan, options, stop, nodeName } = running;
  const { labels, namespace = 'default', generateName = '' } = metadata;
  const { name = `${generateName}${randomUUID().slice(0, 5)}` } = metadata;
  // The node of a target pod is added once it is known.
  const spec = planned.spec.targetSelector ? planned.spec : { ...planned.spec, nodeName };
  const store = openMemoryStore();
  const created = await answerOf(
    store.create({
      apiVersion: API_VERSION,
      kind: 'Diagnosis',
      metadata: { name, namespace, ...(labels ? { labels } : {}) },
      spec,
    }),
  );
  if (!created.ok) throw new UsageError(created.error.message);
  const { uid } = created.value.metadata;
  const largeResults = largeResultsInMemory();
  const steps = stepsFor(spec, running, terminal);
  const onStatus = reportSteps(name, options.output === undefined, terminal);
  const context = {
    store,
    lookup: {
      set: () => Promise.resolve(set),
      operation: async (operation: string) =>
        seenOperation(operation, plan.operations.get(operation)),
    },
    largeResults,
    targetOf: () => ({ state: 'here', nodeName }) as const,
    assign: assignIn(store),
    // No more objects can arrive.
    arrivalMs: 0,
    ...steps,
    runStep: withLargeResults(steps.runStep, largeResults),
    shutdown: new AbortController().signal,
    onSaved: ({ status = {} }: StoredObject) => onStatus(status),
  };
  const driven = await driveDiagnosis({ kind: 'Diagnosis', namespace, name, uid }, context, stop);
  if (driven.state !== 'ended' && driven.state !== 'waits') {
    throw new Error(`a Diagnosis in memory is ${driven.state}`);
  }
  const { status: stored = {} } = driven.object;
  const results = await completeResults(uid, stored, largeResults);
  if (!results.ok) throw new Error(results.why);
  const leftOut = leftOutOn(nodeName, spec);
  if (leftOut !== undefined) terminal.err(`${printable(`${name}: not checked: ${leftOut}`)}\n`);
  if (driven.state === 'waits') terminal.err(`${name}: not run: ${driven.why}\n`);
  const { largeResults: _, observedGeneration: __, ...status } = stored;
  const isEmpty = Object.keys(results.value).length === 0;
  return {
    object: driven.object,
    status: isEmpty ? status : { ...status, operationResults: results.value },
  };
}

/** Runs steps on this node, after a question before each repair. */
function stepsFor(spec: DiagnosisSpec, { options, stop }: Running, terminal: Terminal) {
  const isDryRun = Boolean(options.dryRun || spec.dryRun);
  const asked = { yes: Boolean(options.yes), isDryRun, recovery: spec.recovery, stop };
  const withHost = stepHosts(managedNode(options), {
    ...terminal,
    onSettled: (settled) => showSettled(settled, terminal),
    onLetGo: (left) => reportAbandoned(left, terminal),
  });
  const reading = new Semaphore(READING_STEPS_MAX);
  const steps = stepsOn({ withHost, reading, consent: () => consentOf(asked, terminal), isDryRun });
  const runStep: RunStep = (step) => {
    terminal.progress(`running ${step.name}`);
    return steps(step);
  };
  return { runStep, findPod: podLookup(withHost, reading) };
}

/** Prints a line for each step that ends and each failed attempt. The summary has the reasons. */
function reportSteps(name: string, isSummedUp: boolean, { hint }: Terminal) {
  let reported = 0;
  let tried = '';
  return ({ steps = [], currentStep }: DiagnosisStatus): void => {
    for (const { operation, outcome, message } of steps.slice(reported)) {
      const why = message === undefined || isSummedUp ? '' : `: ${message}`;
      hint(`${printable(`${name}  ${outcome.padEnd(9)}  ${operation}${why}`)}\n`);
    }
    reported = steps.length;
    const { operation, nextAttemptTime = '', message } = currentStep ?? {};
    if (nextAttemptTime === tried) return;
    tried = nextAttemptTime;
    if (tried === '') return;
    hint(
      `${printable(`${name}  Retry      ${operation}: ${message}; next attempt at ${tried}`)}\n`,
    );
  };
}

async function textOf(
  ended: readonly Ended[],
  format: RunOptions['output'],
  { width }: Terminal,
): Promise<string> {
  if (format === undefined) {
    return ended.map((each) => `${summaryOf(objectOf(each), width).join('\n')}\n`).join('\n');
  }
  const [first, ...others] = ended.map(objectOf);
  const whole =
    others.length === 0 ? first : { apiVersion: 'v1', kind: 'List', items: [first, ...others] };
  return format === 'json' ? `${jsonText(whole, 2)}\n` : yamlText(whole);
}

function summaryOf(value: object, width: number): readonly string[] {
  const { lines, isMentioned } = diagnosisSummary(value, width);
  const [result = '', ...rest] = lines;
  const name = labelLine('Name', textAt(value, 'metadata', 'name') ?? '');
  return [result, name, ...rest, ...resultSection(value, width, isMentioned)];
}

function objectOf({ object: { metadata, spec }, status }: Ended): object {
  const { name, namespace, uid, labels = {} } = metadata;
  const head = { apiVersion: API_VERSION, kind: 'Diagnosis' };
  return { ...head, metadata: { name, namespace, uid, labels }, spec, status };
}
