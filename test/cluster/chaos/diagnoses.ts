import { expect } from 'vitest';
import type { DiagnosisStatus } from '../../../src/pipeline/api/diagnosis.ts';
import { API_VERSION } from '../../../src/pipeline/api/kinds.ts';
import type { SharedCluster } from '../shared-cluster.ts';

const ENDED_MS = 240_000;

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

/** All Diagnoses of the namespace, when every one has ended. */
export async function allEnded(
  cluster: SharedCluster,
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
  return found;
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

/** A busy machine may be too slow for the time limits of a check, which then judges nothing and changes nothing. */
export function wasTooSlow({ status }: SeenDiagnosis): boolean {
  const failed = status?.steps?.find(({ outcome }) => outcome === 'Failed');
  return /no answer within the time limit/.test(failed?.message ?? '');
}
