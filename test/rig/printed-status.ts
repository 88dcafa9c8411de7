import { expect } from 'vitest';

/** As far as tests look at it. */
export interface PrintedDiagnosis {
  readonly metadata: { readonly labels: object };
  readonly status: {
    readonly phase: string;
    readonly operationResults: Readonly<Record<string, string>>;
    readonly steps: readonly { readonly outcome: string; readonly message?: string }[];
  } & object;
}

/**
 * Holds a Diagnosis to the status that KubeDiag's own page of the pipeline prints, with this line of
 * the mount table as the stale one. Gives back what was collected of the pod.
 */
export function expectPrintedStatus(
  { metadata, status }: PrintedDiagnosis,
  line: string,
  node = 'my-node',
): string {
  const { operationResults, ...others } = status;
  const [, , , source, target] = line.split(' ');
  expect(metadata.labels).toEqual({ 'adjacency-list-hash': 'b9f84cb4c' });
  const lastTransitionTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  expect(others).toMatchObject({
    phase: 'Succeeded',
    checkpoint: { nodeIndex: 3, pathIndex: 0 },
    conditions: [
      {
        lastTransitionTime,
        message: `Diagnosis is accepted by agent on node ${node}`,
        reason: 'DiagnosisAccepted',
        status: 'True',
        type: 'Accepted',
      },
      {
        lastTransitionTime,
        message: 'Diagnosis is completed',
        reason: 'DiagnosisComplete',
        status: 'True',
        type: 'Complete',
      },
    ],
    succeededPath: [
      { id: 1, operation: 'pod-detail-collector', to: [2] },
      { id: 2, operation: 'mount-info-collector', to: [3] },
      { id: 3, operation: 'subpath-remount-diagnoser', to: [4] },
      { id: 4, operation: 'subpath-remount-recover' },
    ],
    findings: [
      {
        fault: 'stale-subpath-mount',
        state: 'active',
        subject: { mount: target },
        proof: expect.arrayContaining([expect.objectContaining({ text: line })]),
      },
    ],
    actions: [
      {
        kind: 'unmount',
        description: `unmount ${target}`,
        state: 'done',
        journalEntry: expect.any(Number),
      },
    ],
  });
  const found = 'diagnoser.kubernetes.subpath_remount';
  const {
    'collector.kubernetes.pod.detail': detail = '',
    'collector.system.mountinfo': mounts,
    ...rest
  } = operationResults;
  expect(mounts).toContain(`${line}\n`);
  expect(rest).toEqual({
    [`${found}.result`]: 'pod met a bug of subpath-remounting',
    [`${found}.bug_link`]: 'https://github.com/kubernetes/kubernetes/issues/68211',
    [`${found}.original_source_path`]: source,
    [`${found}.original_destination_path`]: target,
    'recover.kubernetes.subpath_remount.result': `Succeesfully umount ${target} on host`,
  });
  expect(source).toMatch(/nginx[.]log[/][/]deleted$/);
  return detail;
}
