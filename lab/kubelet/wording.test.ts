import { expect, test } from 'vitest';
import { podIn } from './pod.ts';
import { cleaned, klogLine, WORDINGS } from './wording.ts';

const NOW = new Date('2026-11-15T15:12:15.061Z');
const UID = '612f2e76-3ce1-4d0e-9b7a-0d6d5a9c1e02';
const POD = podIn({
  kind: 'Pod',
  metadata: { name: 'web-0', namespace: 'practice', uid: UID },
  spec: { containers: [{ name: 'app' }] },
});
const [old, current] = [WORDINGS['v1.18.8'], WORDINGS['v1.36.3']];

test('v1.18.8 logs orphans with the messages of a real kubelet', () => {
  const error = `orphaned pod "${UID}" found, but volume paths are still present on disk`;
  expect(klogLine(old.orphansLeft([error]), NOW, 132)).toBe(
    `E1115 15:12:15.061000     132 kubelet_volumes.go:154] ${error} : There were a total of 1 errors ` +
      'similar to this. Turn up verbosity to see them.',
  );
});

test('v1.36.3 logs orphans with the messages of a real kubelet', () => {
  const error = `orphaned pod "${UID}" found, but error occurred when trying to remove the volumes dir: not a directory`;
  expect(klogLine(current.orphansLeft([error]), NOW, 124)).toBe(
    'E1115 15:12:15.061000     124 kubelet_volumes.go:261] "There were many similar errors. Turn up ' +
      `verbosity to see them." err="${error.replaceAll('"', String.raw`\"`)}" numErrs=1`,
  );
  expect(cleaned('volume from pod', UID, '/v').text).toBe(
    `"Cleaned up orphaned volume from pod" podUID="${UID}" path="/v"`,
  );
});

test('each version has its own message for container logs that cannot be removed', () => {
  const error = 'failed to remove container "ca80" log "boot": remove boot: directory not empty';
  expect(old.removalFails('ca80', error)).toMatchObject({
    place: 'kuberuntime_gc.go:143',
    text: `Failed to remove container "ca80": ${error}`,
  });
  expect(current.removalFails('ca80', error).text).toBe(
    `"Failed to remove container" err="${error.replaceAll('"', String.raw`\"`)}" containerID="ca80"`,
  );
});

test('each version has its own messages for new and deleted pods', () => {
  expect(old.podsChange('ADD', [POD]).text).toBe(`SyncLoop (ADD, "api"): "web-0_practice(${UID})"`);
  expect(current.podsChange('DELETE', [POD]).text).toBe(
    '"SyncLoop DELETE" source="api" pods=["practice/web-0"]',
  );
});
