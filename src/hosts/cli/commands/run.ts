import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { textAt } from '../../../lib/std/json.ts';
import { jsonText } from '../../../lib/std/json-text.ts';
import { printable } from '../../../lib/std/printable.ts';
import { EXIT } from '../../../lib/terminal/exit-codes.ts';
import { stopOnSignal } from '../../../lib/terminal/stop-on-signal.ts';
import type { Terminal } from '../../../lib/terminal/terminal.ts';
import type { LiveNode } from '../../../node/reader/live-node.ts';
import type { Settled } from '../../../node/repair/settle-unfinished.ts';
import type { DiagnosisStatus } from '../../../pipeline/api/diagnosis.ts';
import { API_VERSION } from '../../../pipeline/api/kinds.ts';
import { podLookup } from '../../../pipeline/diagnosis/find-pod.ts';
import { stepsOn } from '../../../pipeline/diagnosis/run-step.ts';
import { leftOutOn } from '../../../pipeline/graph/left-out.ts';
import type { CurrentDiagnosis } from '../../../pipeline/operations/step-input.ts';
import { nodeNameOf } from '../../local-node/node-name.ts';
import { stepHosts } from '../../local-node/step-host.ts';
import { durationMs, type NodeOptions, stateFolderOf } from '../command-line/options.ts';
import {
  type ManifestOptions,
  VALIDATE_MODES,
  type ValidateMode,
} from '../command-line/shared-options.ts';
import { managedNode } from '../input/open-node.ts';
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
import { type Walked, waitForDiagnosis } from '../manifests/wait-for-diagnosis.ts';
import { labelLine, resultSection } from '../screens/described-lines.ts';
import { diagnosisSummary } from '../screens/diagnosis-summary.ts';
import { reportAbandoned } from '../screens/report-abandoned.ts';
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
  const targets = plan.diagnoses.map((each) => targetOf(each, here));
  const stop = stopOnSignal(terminal, 'an action that has begun is finished first');
  const ended: Walked[] = [];
  for (const [index, diagnosis] of plan.diagnoses.entries()) {
    const current = managed(diagnosis, targets[index] ?? here);
    ended.push(await walked(diagnosis, current, { plan, options, stop }, terminal));
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
  const reported = await nodeNameOf(managedNode({ ...options, stateFolder: '' }), timeoutMs);
  return reported ?? diagnoses[0]?.spec.nodeName ?? hostname().toLowerCase();
}

type Managed = Pick<CurrentDiagnosis, 'namespace' | 'name' | 'nodeName' | 'spec'>;

function managed({ metadata, spec }: PlannedDiagnosis, nodeName: string): Managed {
  const { generateName = '', name = `${generateName}${randomUUID().slice(0, 5)}` } = metadata;
  return {
    namespace: metadata.namespace ?? 'default',
    name,
    nodeName,
    // The node of a target pod is added once it is known.
    spec: spec.targetSelector ? spec : { ...spec, nodeName },
  };
}

interface Running {
  readonly plan: RunPlan;
  readonly options: RunOptions;
  readonly stop: AbortSignal;
}

async function walked(
  { metadata, set }: PlannedDiagnosis,
  { name, namespace, spec, nodeName }: Managed,
  { plan, options, stop }: Running,
  terminal: Terminal,
): Promise<Walked> {
  const isDryRun = Boolean(options.dryRun || spec.dryRun);
  const asked = { yes: Boolean(options.yes), isDryRun, recovery: spec.recovery, stop };
  const node = managedNode({ ...options, stateFolder: stateFolderOf(options) });
  const listener = {
    ...terminal,
    onSettled: (settled: readonly Settled[]) => showSettled(settled, terminal),
    onLetGo: (left: LiveNode) => reportAbandoned(left, terminal),
  };
  const withHost = stepHosts(node, listener);
  const steps = stepsOn({
    withHost,
    consent: () => consentOf(asked, terminal),
    isDryRun,
  });
  const { labels } = metadata;
  const end = await waitForDiagnosis({
    metadata: { name, namespace, ...(labels ? { labels } : {}) },
    spec,
    nodeName,
    lookup: {
      set: () => Promise.resolve(set),
      operation: (operation) => Promise.resolve(plan.operations.get(operation)),
    },
    runStep: (step) => {
      terminal.progress(`running ${step.name}`);
      return steps(step);
    },
    findPod: podLookup({ withHost }),
    stop,
    onStatus: reportSteps(name, options.output === undefined, terminal),
  });
  const leftOut = leftOutOn(nodeName, spec);
  if (leftOut !== undefined) terminal.err(`${printable(`${name}: not checked: ${leftOut}`)}\n`);
  if (end.waits !== undefined) terminal.err(`${name}: not run: ${end.waits}\n`);
  return end;
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
  ended: readonly Walked[],
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

function objectOf({ object: { metadata, spec }, status }: Walked): object {
  const { name, namespace, uid, labels = {} } = metadata;
  const head = { apiVersion: API_VERSION, kind: 'Diagnosis' };
  return { ...head, metadata: { name, namespace, uid, labels }, spec, status };
}
