import { expect, test } from 'vitest';
import { checkResource } from './check-resource.ts';
import { processorOf } from './processor-of.ts';

function processor(written: object) {
  const { resource, problems } = checkResource({
    apiVersion: 'diagnosis.kubediag.org/v1',
    kind: 'Operation',
    metadata: { name: 'one' },
    spec: { processor: written },
  });
  if (resource?.kind !== 'Operation') throw new Error(JSON.stringify(problems));
  return processorOf(resource.spec);
}

const PEM = btoa('-----BEGIN CERTIFICATE-----\n');
const http = { way: 'http', timeoutSeconds: 30, path: '/', scheme: 'http' };

test.each([
  [
    'the four steps of the seed',
    { path: '/processor/a', scheme: 'http', timeoutSeconds: 60 },
    { ...http, path: '/processor/a', timeoutSeconds: 60 },
  ],
  [
    'a flat one elsewhere',
    { externalIP: '10.0.0.7', externalPort: 80, path: '/a', scheme: 'https' },
    { ...http, address: '10.0.0.7', port: 80, path: '/a', scheme: 'https' },
  ],
  [
    'a flat one by name, without a path',
    { externalAddress: 'a.example' },
    { ...http, address: 'a.example' },
  ],
  ['a server with nothing said of it', { httpServer: {} }, http],
  [
    'a server',
    { httpServer: { address: 'fd00::1', port: 81, path: '/?a', scheme: 'https' } },
    { ...http, address: 'fd00::1', port: 81, path: '/?a', scheme: 'https' },
  ],
  [
    'a server of whom somebody else vouches, or nobody',
    { httpServer: { caBundle: PEM, insecureSkipTLSVerify: true } },
    { ...http, caBundle: PEM, insecureSkipTLSVerify: true },
  ],
  ['a server that is asked once', { httpServer: { retries: 0 } }, { ...http, retries: 0 }],
  ['a server that is to prove who it is', { httpServer: { insecureSkipTLSVerify: false } }, http],
  [
    'a script',
    { scriptRunner: { script: 'du', argKeys: ['a'], operationResultKey: 'disk' } },
    { way: 'script', timeoutSeconds: 30, script: 'du', argKeys: ['a'], operationResultKey: 'disk' },
  ],
  [
    'a script whose output nobody wants',
    { scriptRunner: { script: '', operationResultKey: '' } },
    { way: 'script', timeoutSeconds: 30, script: '', argKeys: [] },
  ],
  [
    'a script whose code does not count',
    { scriptRunner: { script: 'grep x', ignoreExitCode: true } },
    { way: 'script', timeoutSeconds: 30, script: 'grep x', argKeys: [], ignoreExitCode: true },
  ],
  [
    'a function',
    { function: { codeSource: { 'function.py': 'x' }, runtime: 'Python3' }, timeoutSeconds: 5 },
    { way: 'function', timeoutSeconds: 5, codeSource: { 'function.py': 'x' }, runtime: 'Python3' },
  ],
])('%s', (_, written, expected) => {
  expect(processor(written)).toEqual(expected);
});
