import { expect, onTestFinished, test } from 'vitest';
import { API_VERSION, type KindName } from '../../pipeline/api/kinds.ts';
import { storeLookup } from '../../pipeline/diagnosis/operation-lookup.ts';
import { builtIns } from '../../pipeline/operations/catalogue.ts';
import { openMemoryStore } from '../../pipeline/store/sqlite-store.ts';
import { adviceFor } from './advice.ts';

const OWN = { operationSet: 'dead-volume-mount' };
const alerts = { prometheusAlertTemplate: { regexp: {} } };

test.each<[KindName, object, readonly string[]]>([
  ['Trigger', { ...OWN, sourceTemplate: alerts }, []],
  ['Trigger', { ...OWN, sourceTemplate: { commonEventTemplate: {} } }, []],
  [
    'Trigger',
    { operationSet: 'set', sourceTemplate: alerts },
    ['OperationSet "set" does not exist yet: apply it before an alert comes'],
  ],
  [
    'Trigger',
    { ...OWN, sourceTemplate: { cronTemplate: { schedule: '@hourly' } } },
    [expect.stringContaining('cronTemplate is not supported by this agent')],
  ],
  ['Diagnosis', { ...OWN, nodeName: 'my-node' }, []],
  [
    'Diagnosis',
    { operationSet: 'set', nodeName: 'my-node' },
    ['OperationSet "set" does not exist yet: apply it within a minute'],
  ],
  [
    'Diagnosis',
    { operationSet: 'stale-subpath-mont', nodeName: 'my-node' },
    [expect.stringContaining('did you mean "stale-subpath-mount"?')],
  ],
  [
    'Diagnosis',
    { ...OWN, targetSelector: { nodeNames: ['my-node', 'elsewhere'] } },
    [
      expect.stringMatching(
        /^not diagnosed here: node elsewhere; .*create a Diagnosis on each of them, or this one on a cluster/,
      ),
    ],
  ],
  ['Operation', {}, []],
])('%s %j', async (kind, spec, wanted) => {
  const store = openMemoryStore();
  onTestFinished(() => store.close());
  const advise = adviceFor(
    storeLookup(store, async () => builtIns),
    () => 'my-node',
  );
  const object = { apiVersion: API_VERSION, kind, metadata: { name: 'a' }, spec };
  expect(await advise(object as Parameters<typeof advise>[0])).toEqual(wanted);
});
