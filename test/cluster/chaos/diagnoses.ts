import { expect } from 'vitest';
import type { DiagnosisStatus } from '../../../src/pipeline/api/diagnosis.ts';
import { API_VERSION } from '../../../src/pipeline/api/kinds.ts';
import type { SharedCluster } from '../shared-cluster.ts';

const ENDED_MS = 240_000;
const SERVED_MS = 60_000;

export interface SeenDiagnosis {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly spec: {
    readonly operationSet: string;
    readonly nodeName?: string;
    readonly targetSelector?: object;
  };
  readonly status?: DiagnosisStatus;
}

export interface WantedDiagnosis {
  readonly name: string;
  readonly operationSet: string;
  /** One node, or several. */
  readonly on: string | readonly string[];
}

export async function diagnose(
  cluster: SharedCluster,
  ...wanted: readonly WantedDiagnosis[]
): Promise<void> {
  await cluster.apply(
    ...wanted.map(({ name, operationSet, on }) => ({
      apiVersion: API_VERSION,
      kind: 'Diagnosis',
      metadata: { name },
      spec:
        typeof on === 'string'
          ? { operationSet, nodeName: on }
          : { operationSet, targetSelector: { nodeNames: on } },
    })),
  );
}

/** All Diagnoses of the namespace, these and those that were made for them, when every one has ended. */
export async function allEnded(
  cluster: SharedCluster,
  wanted: readonly Pick<WantedDiagnosis, 'name'>[],
  timeout = ENDED_MS,
): Promise<readonly SeenDiagnosis[]> {
  const get = ['kubectl', 'get', 'diagnoses', '--output=json', '--request-timeout=5s'];
  let found: readonly SeenDiagnosis[] = [];
  const open = async () => {
    const answer = await cluster.run(get);
    if (answer.code !== 0) return answer.stderr;
    found = (JSON.parse(answer.stdout) as { readonly items: readonly SeenDiagnosis[] }).items;
    const left = found.filter(
      ({ status: { phase = '' } = {} }) => !/^(Succeeded|Failed)$/.test(phase),
    );
    return left.length === 0 ? '' : JSON.stringify(left);
  };
  await expect.poll(open, { timeout, interval: 500 }).toBe('');
  const names = new Set(found.map(({ metadata }) => metadata.name));
  expect(wanted.filter(({ name }) => !names.has(name))).toEqual([]);
  return found;
}

/** Waits until the API server answers. */
export async function untilServed(cluster: SharedCluster): Promise<void> {
  const ready = ['kubectl', 'get', '--raw=/readyz', '--request-timeout=5s'];
  const isReady = async () => (await cluster.run(ready)).code === 0;
  await expect.poll(isReady, { timeout: SERVED_MS, interval: 200 }).toBe(true);
}

/** What matters of Diagnoses, for the message of a failed test. */
export function shownOf(...all: readonly SeenDiagnosis[]): string {
  const shown = all.map(({ metadata: { name, uid }, spec, status = {} }) => {
    const { phase, result, conditions, steps, actions, nodes, failedNodes } = status;
    const { operationSet, nodeName } = spec;
    const list = { conditions, steps, actions, nodes, failedNodes };
    return JSON.stringify({ name, uid, operationSet, nodeName, phase, result, ...list });
  });
  return shown.join('\n');
}

/** Why the step that failed has failed; of a Diagnosis that no step ended, its conditions. */
export function failureOf({ status }: SeenDiagnosis): string {
  const step = status?.steps?.find(({ outcome }) => outcome === 'Failed');
  return step?.message ?? (status?.conditions ?? []).map(({ message }) => message).join('; ');
}

/** A busy machine may be too slow for the time limits of a check, which then judges nothing and changes nothing. */
export function wasTooSlow(seen: SeenDiagnosis): boolean {
  return /no answer within the time limit/.test(failureOf(seen));
}
