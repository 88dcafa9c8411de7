import { expect, test } from 'vitest';
import { changesBetween, healthyPods, unannounced, unchanged } from './compare.ts';

test('removed and added lines are reported, also if a line occurs twice', () => {
  expect(changesBetween(['a', 'b', 'b'], ['b', 'c'])).toEqual(['- a', '- b', '+ c']);
  expect(changesBetween(['a', 'b'], ['b', 'a'])).toEqual([]);
  expect(changesBetween(['a'], ['a', 'a'])).toEqual(['+ a']);
});

test('an expected change covers the lines that begin with it, and no others', () => {
  const changes = ['- mount /pods/u1/volume-subpaths/0 ext4', '+ mount /mnt ext4'];
  expect(unannounced(changes, ['- mount /pods/u1'])).toEqual(['+ mount /mnt ext4']);
  expect(unannounced(changes, ['+ mount /pods/u1'])).toEqual(changes);
});

test('a missing required change is reported', () => {
  const changes = ['- mount /pods/u1/volume-subpaths/0 ext4'];
  expect(unchanged(changes, ['- mount /pods/u1/', '+ file /bin '])).toEqual(['+ file /bin ']);
});

test('a pod that the break did not change is healthy, and may change only if it is named', () => {
  const pods = ['web', 'shop'].map((name) => ({ name: `practice/${name}-0`, uid: `u-${name}` }));
  const baseline = { lines: ['process kubelet'], pods, hasServedMount: false };
  const lines = [...baseline.lines, 'container practice/shop-0 lost attempt 0 exited'];
  const healthy = healthyPods(baseline, { ...baseline, lines });
  expect(healthy).toEqual([{ name: 'practice/web-0', uid: 'u-web' }]);
  const changes = ['- mount in cat of pod u-web: /etc', '- mount in cat of pod u-shop: /etc'];
  expect(unannounced(changes, ['- mount in cat'], healthy)).toEqual([changes[0]]);
  expect(unannounced(changes, ['- mount in cat', '- mount in cat of pod u-web'], healthy)).toEqual(
    [],
  );
});
