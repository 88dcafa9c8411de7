import { expect, test } from 'vitest';
import { makeFolder, makeLink, makeProc, makeProcess } from '../../../../test/synthetic-kubelet.ts';
import { NodeMaker } from '../../../../test/synthetic-node.ts';
import { takeSnapshot } from '../../checkup/take-snapshot.ts';
import { kubelet } from './kubelet.ts';

const VIEW = '/proc/812/root';

/** A kubelet with this root, on a node with these directories. */
function nodeReported(root: string, folders: readonly string[]): NodeMaker {
  const maker = makeProc(new NodeMaker(), [812]);
  makeProcess(maker, { words: ['kubelet', `--root-dir=${root}`] });
  for (const folder of folders) makeFolder(maker, VIEW, folder);
  return maker;
}

test("a root from the user that differs from the kubelet's setting is a contradiction", async () => {
  const node = nodeReported('/here', ['/here', '/data']).build();
  const { contradiction } = await takeSnapshot(node, { kubeletRoot: '/data' }).of(kubelet);
  expect(contradiction).toContain('has /here');
  const agreed = await takeSnapshot(node, { kubeletRoot: '/here' }).of(kubelet);
  expect(agreed).not.toHaveProperty('contradiction');
});

test('a root behind a link is known by both names', async () => {
  const maker = nodeReported('/var/k', ['/data/kubelet']);
  makeLink(maker, VIEW, '/var/k', '../mnt/disk');
  makeLink(maker, VIEW, '/mnt/disk', '/data/kubelet/');
  expect(await takeSnapshot(maker.build()).of(kubelet)).toMatchObject({
    root: '/data/kubelet',
    configuredRoot: '/var/k',
  });
});
