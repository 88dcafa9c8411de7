import { expect, test } from 'vitest';
import { orphanedVolumeMetadata } from '../../../node/faults/orphaned-volume-metadata/fault.ts';
import type { Finding } from '../../../node/model/finding.ts';
import { actionsOf } from './planned-repair.ts';

const [ONE, OTHER] = [
  '0b5cf1de-9f0e-4c9c-a4d3-2d1f0e3f7a11',
  '0b5cf1de-9f0e-4c9c-a4d3-2d1f0e3f7a12',
];

test('every action gets the whole word that a person gave: it may name the pods of several findings', () => {
  const finding = {
    pins: { podUid: ONE, volume: 'pvc-7', inode: '12' },
    mustName: [ONE],
  } as unknown as Finding;
  const given = [OTHER, ONE].join();
  expect(actionsOf(orphanedVolumeMetadata, finding, given)).toMatchObject([{ confirmed: given }]);
  const [without] = actionsOf(orphanedVolumeMetadata, finding, undefined);
  expect(without).not.toHaveProperty('confirmed');
});
