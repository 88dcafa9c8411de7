import { createInterface } from 'node:readline';
import type { StepResult } from '../../src/pipeline/api/results.ts';
import { openKubeClient } from '../../src/pipeline/kube/kube-client.ts';
import { kubeconfigAccess } from '../../src/pipeline/kube/kubeconfig.ts';
import { SimulatedAgents, type SimulatedStep, stepOf } from './simulated-agents.ts';

/** What a test asks of this process: one line of JSON, which is answered by one line. */
export type FleetRequest =
  /** Steps of this Operation do not end on these nodes, until they are released or their agent dies. */
  | { readonly what: 'hold'; readonly operation: string; readonly names: readonly string[] }
  | { readonly what: 'release'; readonly names: readonly string[] }
  /** Starts agents; without names, all. */
  | { readonly what: 'start'; readonly names?: readonly string[] }
  /** Ends agents as a node does that dies. */
  | { readonly what: 'lose'; readonly names: readonly string[] }
  | { readonly what: 'runs' };

/** The answer to "runs". */
export interface FleetRuns {
  /** How often each step has begun and ended: "sim-0001 check" is a node and an Operation. */
  readonly begun: Readonly<Record<string, number>>;
  readonly ended: Readonly<Record<string, number>>;
  readonly errors: readonly string[];
}

/** Operations that search for a fault: stale-subpath-mount-diagnoser. */
const DIAGNOSER = /-diagnoser$/;
/** Nine of ten nodes are healthy, so their graph ends there: not sim-0007. */
const HAS_FAULT = /7$/;
const STEP_MS = 20;
const CHECK_MS = 100;

class SimulatedFleet {
  readonly #agents: SimulatedAgents;
  readonly #held = new Map<string, string>();
  readonly #begun = new Map<string, number>();
  readonly #ended = new Map<string, number>();

  constructor(api: ConstructorParameters<typeof SimulatedAgents>[0], size: number) {
    const step: SimulatedStep = (...given) => this.#step(...given);
    this.#agents = new SimulatedAgents(api, size, { step, watchesGraphs: true });
  }

  async answer(request: FleetRequest): Promise<unknown> {
    if (request.what === 'runs') return this.#runs();
    if (request.what === 'start') await this.#agents.start(request.names);
    if (request.what === 'lose') await this.#agents.lose(request.names);
    if (request.what === 'release') for (const name of request.names) this.#held.delete(name);
    if (request.what === 'hold') {
      for (const name of request.names) this.#held.set(name, request.operation);
    }
    return {};
  }

  stop(): Promise<void> {
    return this.#agents.stop();
  }

  #runs(): FleetRuns {
    return {
      begun: Object.fromEntries(this.#begun),
      ended: Object.fromEntries(this.#ended),
      errors: this.#agents.errors,
    };
  }

  async #step(nodeName: string, stop: AbortSignal, operation: string): Promise<StepResult> {
    const key = `${nodeName} ${operation}`;
    add(this.#begun, key);
    const wait = stepOf(CHECK_MS);
    while (this.#held.get(nodeName) === operation && !stop.aborted) {
      await wait(nodeName, stop, operation);
    }
    const result = await stepOf(STEP_MS)(nodeName, stop, operation);
    if (stop.aborted) return result;
    add(this.#ended, key);
    const isHealthy = DIAGNOSER.test(operation) && !HAS_FAULT.test(nodeName);
    return isHealthy ? { succeeded: false, message: 'absent', reason: 'NothingFound' } : result;
  }
}

function add(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** Ends with its standard input, and so with the process that started it. */
async function run(kubeconfig: string, size: number): Promise<void> {
  const access = await kubeconfigAccess(kubeconfig);
  const client = openKubeClient(access);
  const credentials = await access.credentials(false);
  const fleet = new SimulatedFleet({ server: access.server, credentials, client }, size);
  for await (const line of createInterface({ input: process.stdin })) {
    const answer = await fleet.answer(JSON.parse(line) as FleetRequest);
    process.stdout.write(`${JSON.stringify(answer)}\n`);
  }
  await fleet.stop();
  client.close();
}

const [kubeconfigFile = '', count = ''] = process.argv.slice(2);
await run(kubeconfigFile, Number(count));
