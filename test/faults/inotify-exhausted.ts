import type { InotifyInstance } from '../../src/node/model/node-reader.ts';
import type { SyntheticNodes } from '../synthetic-node.ts';
import { syntheticWorker } from '../synthetic-worker.ts';

const ASKED = { instances: 'inotify' } as const;
const HELD = { process: 'containerd-shim', user: 0, descriptor: 5, watches: 2 };
const HOST = { userNamespace: 'user:[4026531837]' };

function holding(length: number, more: Partial<InotifyInstance> = {}) {
  const answer = Array.from({ length }, (_, at) => ({ pid: 900 + at, ...HELD, ...HOST, ...more }));
  return syntheticWorker({}).set('inotify', ASKED, { answer });
}

export function nodes(): SyntheticNodes {
  return {
    healthy: holding(60),
    'active-instances': holding(128),
    'active-watches': holding(1, { process: 'kubelet', watches: 8192 }),
    'active-another-user': holding(128, { user: 1000, process: 'node' }),
    'active-user-namespaces': holding(128, { user: 165_536, userNamespace: 'user:[4026532541]' }),
    'latent-instances': holding(103),
    'look-alike-below-the-warning': holding(102),
    'benign-logged': syntheticWorker({
      kubeletLog: ['E0102 02:50:00.000000 812 a.go:1] inotify_init: too many open files'],
    }),
    'unclear-denied': syntheticWorker({}).set('inotify', ASKED, { failure: 'denied' }),
  };
}
