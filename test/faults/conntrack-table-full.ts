import type { SyntheticNodes } from '../synthetic-node.ts';
import { syntheticWorker } from '../synthetic-worker.ts';

const TABLE = '/proc/sys/net/netfilter/nf_conntrack';
const DROPPED = 'kernel: nf_conntrack: table full, dropping packet';
const logged = (...kernelLog: readonly string[]) => syntheticWorker({ kernelLog });
const DROPPED_LATELY = `2026-01-02T03:00:00+0000 worker-7 ${DROPPED}`;
const used = (count: number, limit = 65_536, node = syntheticWorker({})) =>
  node.file(`${TABLE}_count`, `${count}\n`).file(`${TABLE}_max`, `${limit}\n`);

export function nodes(): SyntheticNodes {
  return {
    healthy: syntheticWorker({}),
    'active-full': used(65_536),
    'active-full-and-logged': used(65_536, 65_536, logged(DROPPED_LATELY)),
    'benign-dropped-lately': logged(DROPPED_LATELY),
    'latent-nearly-full': used(56_000),
    'look-alike-below-the-warning': used(55_000),
    'look-alike-without-limit': used(65_536, 0),
    'look-alike-dropped-yesterday': logged(`2026-01-01T03:00:00+0000 worker-7 ${DROPPED}`),
    'look-alike-table-of-a-pod': logged(
      '2026-01-02T03:00:00+0000 worker-7 kernel: nf_conntrack: table full in netns 4026532541, dropping packet',
    ),
    'benign-not-loaded': syntheticWorker({}).missing('file', `${TABLE}_count`),
    'benign-unloaded-lately': logged(DROPPED_LATELY).missing('file', `${TABLE}_count`),
    'unclear-other-namespace': syntheticWorker({}).link('/proc/self/ns/net', 'net:[4026532541]'),
    'unclear-not-a-number': syntheticWorker({}).file(`${TABLE}_max`, 'many\n'),
  };
}
