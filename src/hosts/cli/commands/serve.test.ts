import { expect, test } from 'vitest';
import { listenAddress } from './serve.ts';

test.each([
  ['127.0.0.1:8090', '127.0.0.1', 8090],
  ['[::1]:80', '::1', 80],
  ['localhost:0', 'localhost', 0],
])('%s is of this machine alone', (text, host, port) => {
  expect(listenAddress(text, false)).toEqual({ host, port });
});

test.each(['8090', ':8090', '127.0.0.1', '127.0.0.1:99999', '::1:80', 'a b:1', ''])(
  '%j is no address',
  (text) => {
    expect(() => listenAddress(text, true)).toThrow('--listen: not ADDRESS:PORT');
  },
);

test('an address that others can reach wants a second word, and has a warning', () => {
  for (const text of ['0.0.0.0:8090', '[::]:8090', '10.0.0.1:8090', 'my-node:8090']) {
    expect(() => listenAddress(text, false)).toThrow('--allow-remote');
    expect(listenAddress(text, true).warning).toContain('without TLS');
  }
});
