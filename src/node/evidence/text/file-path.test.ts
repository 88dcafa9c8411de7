import { describe, expect, test } from 'vitest';
import { makeFolder, makeLink } from '../../../../test/synthetic-kubelet.ts';
import { NodeMaker } from '../../../../test/synthetic-node.ts';
import { ReadError } from '../../model/node-reader.ts';
import { LINKS_MAX } from '../limits.ts';
import { absolutePath, resolvePath, unlessMissing } from './file-path.ts';

const VIEW = '/proc/812/root';

describe('a path with links in it', () => {
  const node = () => {
    const maker = new NodeMaker();
    for (const path of ['/data/kubelet/pods', '/var/lib', '/srv']) makeFolder(maker, VIEW, path);
    makeLink(maker, VIEW, '/var/lib/kubelet', '/data/kubelet');
    makeLink(maker, VIEW, '/data/here', './kubelet');
    makeLink(maker, VIEW, '/data/kubelet/up', '../../srv');
    return maker;
  };

  test.each([
    ['/data/kubelet/pods', '/data/kubelet/pods'],
    ['/var/lib/kubelet/pods', '/data/kubelet/pods'],
    ['/data/here/pods', '/data/kubelet/pods'],
    ['/data/kubelet/up', '/srv'],
    ['/data//kubelet/./pods/', '/data/kubelet/pods'],
    ['/data/../srv', '/srv'],
    ['/../srv', '/srv'],
    ['/', '/'],
  ])('%s is %s', async (path, expected) => {
    expect(await resolvePath(node().build(), VIEW, path)).toBe(expected);
  });

  /** Each link leads to the next. */
  const chain = (count: number) => {
    const maker = makeFolder(new NodeMaker(), VIEW, `/l${count}`);
    for (let at = 0; at < count; at += 1) makeLink(maker, VIEW, `/l${at}`, `l${at + 1}`);
    return maker.build();
  };

  test('has a limit on links, as in the kernel', async () => {
    expect(await resolvePath(chain(LINKS_MAX), VIEW, '/l0')).toBe(`/l${LINKS_MAX}`);
    await expect(resolvePath(chain(LINKS_MAX + 1), VIEW, '/l0')).rejects.toMatchObject({
      failure: 'failed',
      message: expect.stringContaining(`more than ${LINKS_MAX} links`),
    });
  });
});

test.each([
  ['/etc/a', '/', '/etc/a'],
  ['a', '/', '/a'],
  ['a', '/var/lib', '/var/lib/a'],
])('%s in the directory %s is %s', (path, folder, expected) => {
  expect(absolutePath(path, folder)).toBe(expected);
});

test('only "missing" becomes a value', async () => {
  expect(await unlessMissing(Promise.resolve(7))).toBe(7);
  const missing = Promise.reject<number>(new ReadError('missing', '/a'));
  expect(await unlessMissing(missing)).toBeUndefined();
  await expect(unlessMissing(Promise.reject(new ReadError('denied', '/a')))).rejects.toMatchObject({
    failure: 'denied',
  });
});
