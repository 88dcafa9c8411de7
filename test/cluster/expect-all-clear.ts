import { expect } from 'vitest';
import { faults } from '../../src/node/faults/index.ts';
import type { Ended } from '../../tools/cluster/node.ts';
import { reportOf } from '../rig/run-kubediag.ts';

/** None is unknown either: what nobody may ask the kubelet must not be needed on a healthy node. */
export function expectAllClear(ended: Ended): void {
  const reported = reportOf(ended).faults.map(({ name, verdict, reason, findings }) => ({
    name,
    verdict,
    reason,
    findings,
  }));
  const clear = faults.map(({ id }) => ({
    name: id,
    verdict: 'clear',
    reason: undefined,
    findings: [],
  }));
  const byName = (one: { readonly name: string }, other: { readonly name: string }) =>
    one.name < other.name ? -1 : 1;
  expect(reported.toSorted(byName)).toEqual(clear.toSorted(byName));
  expect(ended.code).toBe(0);
}
