import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { makeNode, RUNNING } from '../rig/faulty-node.ts';
import { hangVolumes, says, volumeOf } from '../rig/hung-volume.ts';
import type { PracticeNode } from '../rig/practice-node.ts';
import type { PrintedCheck } from '../rig/standing-checks.ts';

const CHECKS = join(import.meta.dirname, '../rig/standing-checks.ts');
/** From then on a reader that has lost its parent counts as left behind. */
const AGE_MS = 6_500;

async function checksOf(node: PracticeNode, count: number): Promise<readonly PrintedCheck[]> {
  const running = node.startHere([process.execPath, '--no-warnings', CHECKS, String(count)]);
  running.child.stdin?.end();
  const { stdout, stderr, code } = await running.end;
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as PrintedCheck);
}

async function readersOf(node: PracticeNode): Promise<number> {
  const found = await node.run('sh', '-c', 'grep -lx kubediag-reader /proc/[0-9]*/comm || true');
  return found.split('\n').filter((line) => line !== '').length;
}

it('many checks of a node with dead mounts leave few readers, also after a restart', async () => {
  const { node, runtime } = await makeNode();
  runtime.containers = [RUNNING];
  await node.startKubelet({ says: says() });
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
  await hangVolumes(node, ...names.map((name) => volumeOf(node, `kubernetes.io~nfs/${name}`)));

  const first = await checksOf(node, 8);
  expect(first).toHaveLength(8);
  for (const { check, abandoned } of first) {
    expect(abandoned).toBeLessThanOrEqual(8);
    const found = check.findings.filter(({ fault }) => fault === 'dead-volume-mount');
    expect(found.length).toBeGreaterThan(0);
  }
  const left = await readersOf(node);
  expect(left).toBeLessThanOrEqual(8);
  // The same mounts are found each time, by the readers that wait there.
  const [before, after] = [first.at(0), first.at(-1)].map((each) =>
    each?.check.findings.map(({ id }) => id).toSorted(),
  );
  expect(after).toEqual(expect.arrayContaining(before ?? ['none']));

  await sleep(AGE_MS);
  await checksOf(node, 4);
  expect(await readersOf(node)).toBeLessThanOrEqual(Math.max(left, 8));
});
