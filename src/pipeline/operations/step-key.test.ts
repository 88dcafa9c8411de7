import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import type { ProcessorHost } from './processor-host.ts';
import { stepsOn } from './run-step.ts';

test('a server gets the same key when a step is run again, and another key for another step', async () => {
  const keys: unknown[] = [];
  const server = createServer(({ headers }, response) => {
    keys.push(headers['idempotency-key']);
    response.end('{}');
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const way = { way: 'http', scheme: 'http', path: '/', timeoutSeconds: 5, retries: 0 } as const;
  const processor = { ...way, address: '127.0.0.1', port };
  const spec = { operationSet: 'some' };
  const diagnosis = { namespace: 'a', name: 'b', uid: 'u', nodeName: 'n', spec, status: {} };
  const { signal: stop } = new AbortController();
  for (const purpose of ['u/1/a/b', 'u/1/a/b', 'u/2/a/b']) {
    // A new one each time, as after a restart.
    const run = stepsOn({ withHost: (request, use) => use(request as unknown as ProcessorHost) });
    await run({ name: 'ask', processor, diagnosis, input: {}, restMs: 5_000, purpose, stop });
  }
  expect(keys[1]).toBe(keys[0]);
  expect(new Set(keys)).toHaveProperty('size', 2);
});
