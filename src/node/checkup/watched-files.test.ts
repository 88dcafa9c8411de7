import { expect, test } from 'vitest';
import type { QuickAnswer, QuickQuestion } from '../model/quick-reader.ts';
import { PACED_REST_MS_MAX, WATCHED_SHARE } from './limits.ts';
import { WatchedFiles } from './watched-files.ts';

const POD = 'u1/volumes/example.com~disk';
const COUNT = '/proc/sys/net/netfilter/nf_conntrack_count';
const MAX = '/proc/sys/net/netfilter/nf_conntrack_max';
const CONF = '/proc/812/root/etc/resolv.conf';

interface Seen {
  readonly names?: string;
  readonly conf?: string;
  readonly count?: string;
  readonly pid?: number;
  readonly hangs?: boolean;
}

/** The parts of the digest that differ after the node has changed. */
async function changed(before: Seen, after: Seen): Promise<readonly string[]> {
  const watched = new WatchedFiles(() => 0);
  const digestOf = async ({ names = '', conf = '', count = '1', pid = 812, hangs }: Seen) => {
    const folder = `/proc/${pid}/root/var/lib/kubelet/pods`;
    const texts: Readonly<Record<string, string>> = { [CONF]: conf, [COUNT]: count, [MAX]: '100' };
    const answer = ({ files }: QuickQuestion): QuickAnswer => ({
      names: [names.replaceAll('PODS', folder)],
      files: files.map((path) => texts[path] ?? ''),
      logs: [],
    });
    const quick = { ask: async (asked: QuickQuestion) => (hangs ? undefined : answer(asked)) };
    return watched.digest(quick, { names: [{ folder, pattern: '*' }], files: [CONF] });
  };
  const was = new Set((await digestOf(before)).split(' '));
  const is = (await digestOf(after)).split(' ');
  return is.filter((part) => !was.has(part)).map((part) => part.split('=')[0] ?? '');
}

test.each<[string, Seen, Seen, readonly string[]]>([
  ['nothing', { count: '1' }, { count: '84' }, []],
  ['a leftover name', {}, { names: `PODS/${POD}/a.deleting~1\n` }, ['names']],
  ['the kubelet, with the same names', { names: 'PODS/a' }, { names: 'PODS/a', pid: 900 }, []],
  ['a file', { conf: 'nameserver 192.0.2.1\n' }, { conf: 'search a\n' }, ['files']],
  ['a number of the kernel beyond its first limit', {}, { count: '85' }, ['limits']],
  ['one beyond its second limit', { count: '99' }, { count: '100' }, ['limits']],
  ['a number that cannot be read', {}, { count: '' }, ['limits']],
  ['a path that hangs', {}, { conf: 'other', hangs: true }, []],
])('%s changes', async (_, before, after, expected) => {
  expect(await changed(before, after)).toEqual(expected);
});

test('names that take long are asked for less often', async () => {
  let nowMs = 0;
  let asked = 0;
  let tookMs = 20;
  const quick = {
    ask: async () => {
      asked += 1;
      nowMs += tookMs;
      return { names: [''], files: [], logs: [] };
    },
  };
  const watched = new WatchedFiles(() => nowMs);
  const places = { names: [{ folder: '/pods', pattern: '*' }], files: [] };
  const first = await watched.digest(quick, places);
  nowMs += 20 / WATCHED_SHARE - 1;
  expect(await watched.digest(quick, places)).toBe(first);
  expect(asked).toBe(1);
  nowMs += 1;
  tookMs = 1_000;
  await watched.digest(quick, places);
  expect(asked).toBe(2);
  nowMs += PACED_REST_MS_MAX;
  await watched.digest(quick, places);
  expect(asked).toBe(3);
});
