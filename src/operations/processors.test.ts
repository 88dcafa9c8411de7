import { expect, test } from 'vitest';
import { NodeMaker } from '../../test/made-node.ts';
import { lookAt } from '../checkup/look.ts';
import type { ProcessorHost } from './processor-host.ts';
import { processors } from './processors.ts';

/** A host on whose node nothing can be read, and that lets nobody change anything. */
function hostWith(changes: Partial<ProcessorHost> = {}): ProcessorHost {
  const forbidden = () => Promise.reject(new Error('it must not come so far'));
  return {
    look: () => lookAt(new NodeMaker().build()),
    judge: forbidden,
    consent: forbidden,
    openHands: forbidden,
    timeoutMs: 5_000,
    stop: new AbortController().signal,
    stateFolder: '/nowhere',
    hostRoot: '/nowhere',
    ...changes,
  };
}

function run(name: string, input: Readonly<Record<string, string>>, host = hostWith()) {
  const processor = processors.find(({ path }) => path === `/processor/${name}`);
  if (!processor) throw new Error(`no processor ${name}`);
  return processor.run(input, host);
}

const POD = JSON.stringify({ metadata: { namespace: 'shop', name: 'web-0' } });
const COLLECTED = {
  'collector.kubernetes.pod.detail': POD,
  'collector.system.mountinfo': '1 1 0:1 / / rw - ext4 /dev/vda rw\n',
};
const TARGET = 'diagnoser.kubernetes.subpath_remount.original_destination_path';
const doubtful = hostWith({
  judge: () =>
    Promise.resolve({
      verdict: { state: 'unknown', findings: [], doubts: [{ why: 'the runtime is silent' }] },
      keepEvidence: () => Promise.reject(new Error('nothing is to be kept')),
    }),
});

test.each(processors.map(({ path }) => path.replace('/processor/', '')))(
  '%s answers a step that was told nothing, on a node that tells nothing',
  async (name) => {
    const result = await run(name, {}, doubtful);
    expect(result).toMatchObject({ succeeded: false, message: expect.stringMatching(/./) });
  },
);

test.each([
  ['podDetailCollector', { 'pod.name': 'a' }, 'no pod is named'],
  ['subpathRemountDiagnoser', {}, 'this step needs collector.kubernetes.pod.detail'],
  [
    'subpathRemountDiagnoser',
    { 'collector.kubernetes.pod.detail': POD },
    'this step needs collector.system.mountinfo',
  ],
  [
    'subpathRemountDiagnoser',
    { ...COLLECTED, 'collector.kubernetes.pod.detail': '{' },
    'is no pod with a name',
  ],
  ['subpathRemountRecover', {}, `this step needs ${TARGET}`],
])('%s says what is missing', async (name, input, words) => {
  expect(await run(name, input)).toHaveProperty('message', expect.stringContaining(words));
});

test('what is not known is neither diagnosed nor acted on', async () => {
  expect(await run('subpathRemountDiagnoser', COLLECTED, doubtful)).toEqual({
    succeeded: false,
    message: 'pod shop/web-0: it is not known: the runtime is silent',
  });
  const recover = await run('subpathRemountRecover', { [TARGET]: '--lazy /' }, doubtful);
  expect(recover).toHaveProperty('message', expect.stringMatching(/^refused: a new look does not/));
});

test('the mount table is handed on as it is', async () => {
  const text = '1 1 0:1 / / rw - ext4 /dev/vda rw\n';
  const node = new NodeMaker().file('/proc/1/mountinfo', text).build();
  const result = await run('mountInfoCollector', {}, hostWith({ look: () => lookAt(node) }));
  expect(result).toEqual({ succeeded: true, results: { 'collector.system.mountinfo': text } });
});

test('whatever a processor must be told, it says so by the key that the catalogue names', async () => {
  for (const { path, reads } of processors) {
    const [key] = reads;
    if (key === undefined || key.startsWith('pod.')) continue;
    const result = await run(path.replace('/processor/', ''), {});
    expect(result).toHaveProperty('message', expect.stringContaining(`needs ${key}`));
  }
});
