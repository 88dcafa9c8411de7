import { Semaphore } from '../src/lib/std/semaphore.ts';
import type { DiagnosisStatus } from '../src/pipeline/api/diagnosis.ts';
import { API_VERSION } from '../src/pipeline/api/kinds.ts';
import type { GraphNode } from '../src/pipeline/api/operation-set.ts';
import { assignIn } from '../src/pipeline/diagnosis/assign.ts';
import { driveDiagnosis } from '../src/pipeline/diagnosis/drive-diagnosis.ts';
import type { Driven, DriverContext } from '../src/pipeline/diagnosis/driver-context.ts';
import { largeResultsInMemory } from '../src/pipeline/diagnosis/large-results.ts';
import { LARGE_STEPS_MAX } from '../src/pipeline/diagnosis/limits.ts';
import { type SeenBuiltIns, storeLookup } from '../src/pipeline/diagnosis/operation-lookup.ts';
import { withLargeResults } from '../src/pipeline/diagnosis/with-large-results.ts';
import { builtIns } from '../src/pipeline/operations/catalogue.ts';
import type {
  RunStep,
  RunStepWhenDue,
  StepDelay,
  StepOutcome,
  StepToRun,
} from '../src/pipeline/steps/step-to-run.ts';
import { openMemoryStore } from '../src/pipeline/store/sqlite-store.ts';
import type { Store, StoredObject } from '../src/pipeline/store/store.ts';

/** What a step of a synthetic graph does; by default it returns a result. */
type Outcome = StepOutcome | StepDelay;
type Act = (step: StepToRun) => Outcome | Promise<Outcome>;

const KEY = { kind: 'Diagnosis', namespace: 'default', name: 'walk' } as const;

/**
 * A store in memory with a graph of steps that are called by a letter each ("a" to "d"), one Diagnosis
 * of it, and a log of every step that was run.
 */
export class SyntheticWalk {
  readonly ran: string[] = [];
  readonly acts = new Map<string, Act>();
  readonly shutdown = new AbortController();
  readonly stop = new AbortController();
  readonly errors: string[] = [];
  readonly #largeSteps = new Semaphore(LARGE_STEPS_MAX);
  store: Store = openMemoryStore();
  largeResults = largeResultsInMemory();
  now = () => new Date();
  builtIns: SeenBuiltIns = builtIns;
  /** What the driver takes nodes other than node-1 for. */
  otherNodes: 'elsewhere' | 'unknown' = 'unknown';
  /** As on a cluster: a controller assigns, and the driver writes `status` only. */
  isAgentOnly = false;
  howToFetch: DriverContext['howToFetch'];
  earlierActionsFor: DriverContext['earlierActionsFor'] = async () => ({
    isKnown: true,
    record: {},
  });

  readonly #act: RunStepWhenDue = async (step) => {
    this.ran.push(step.name);
    const act = this.acts.get(step.name);
    return act ? act(step) : { succeeded: true, results: { [step.name]: 'done' } };
  };

  get context(): DriverContext {
    return {
      store: this.store,
      lookup: storeLookup(this.store, async () => this.builtIns),
      largeResults: this.largeResults,
      targetOf: ({ nodeName = 'node-1' }) =>
        nodeName === 'node-1' ? { state: 'here', nodeName } : { state: this.otherNodes },
      assign: this.isAgentOnly ? undefined : assignIn(this.store),
      runStep: (step) => this.#run(step),
      ...(this.howToFetch ? { howToFetch: this.howToFetch } : {}),
      ...(this.earlierActionsFor ? { earlierActionsFor: this.earlierActionsFor } : {}),
      shutdown: this.shutdown.signal,
      now: () => this.now(),
      onError: (message) => this.errors.push(message),
    };
  }

  /** A step that cannot run now has no results. */
  async #run(step: StepToRun): Promise<Outcome> {
    let delay: StepDelay | undefined;
    const act: RunStep = async (each) => {
      const outcome = await this.#act(each);
      if (!('notNow' in outcome)) return outcome;
      delay = outcome;
      return { succeeded: true, results: {} };
    };
    const atOnce = this.#largeSteps;
    const outcome = await withLargeResults(act, this.largeResults, { atOnce })(step);
    return delay ?? outcome;
  }

  /** "ab cd": the paths that are tried one after the other. */
  async graph(paths: string): Promise<void> {
    const nodes: GraphNode[] = [{ to: [] }];
    for (const path of paths.split(' ')) {
      const letters = path.split('');
      nodes[0]?.to?.push(nodes.length);
      for (const [at, operation] of letters.entries()) {
        const isLast = at === letters.length - 1;
        nodes.push(isLast ? { operation } : { operation, to: [nodes.length + 1] });
      }
    }
    await this.store.create({
      apiVersion: API_VERSION,
      kind: 'OperationSet',
      metadata: { name: 'some' },
      spec: { adjacencyList: nodes },
    });
    const steps = new Set(paths.replaceAll(' ', ''));
    for (const name of steps) await this.operation(name);
  }

  async operation(name: string): Promise<void> {
    await this.store.create({
      apiVersion: API_VERSION,
      kind: 'Operation',
      metadata: { name },
      spec: {
        processor: { scriptRunner: { script: 'true' }, timeoutSeconds: 30 },
      },
    });
  }

  diagnosis(spec: object = {}): Promise<StoredObject> {
    return this.store.create({
      apiVersion: API_VERSION,
      kind: 'Diagnosis',
      metadata: { name: KEY.name, namespace: KEY.namespace },
      spec: { operationSet: 'some', nodeName: 'node-1', ...spec },
    });
  }

  async change(spec: object): Promise<void> {
    const object = await this.stored();
    await this.store.update({ ...object, spec: { ...object.spec, ...spec } });
  }

  async stored(): Promise<StoredObject> {
    const object = await this.store.get(KEY);
    if (!object) throw new Error('it is gone');
    return object;
  }

  async status(): Promise<DiagnosisStatus> {
    return (await this.stored()).status ?? {};
  }

  async drive(uid?: string): Promise<Driven> {
    const driven = { ...KEY, uid: uid ?? (await this.stored()).metadata.uid };
    return driveDiagnosis(driven, this.context, this.stop.signal);
  }

  delete(): Promise<void> {
    return this.store.delete(KEY);
  }
}

export async function walkOf(paths: string, spec: object = {}): Promise<SyntheticWalk> {
  const walk = new SyntheticWalk();
  await walk.graph(paths);
  await walk.diagnosis(spec);
  return walk;
}
