import { expect, test } from 'vitest';
import { stoppedWorker } from '../../../../test/synthetic-stopped-worker.ts';
import { takeSnapshot } from '../../checkup/take-snapshot.ts';
import { attempt } from '../../model/evidence.ts';
import { failuresOf } from '../../model/node-reader.ts';
import { runtime } from './runtime.ts';

const SOCKET = '/run/containerd/containerd.sock';

test('an error of several sockets has the failures of each', async () => {
  const maker = stoppedWorker({}).set(
    'runtime',
    { socket: SOCKET, call: 'Version' },
    { failure: 'denied', detail: `not permitted to connect to ${SOCKET}` },
  );
  const asked = await attempt(takeSnapshot(maker.build()).of(runtime));
  expect(asked).toMatchObject({ error: { failure: 'failed' } });
  expect(asked.known ? [] : failuresOf(asked.error)).toContain('denied');
});
