import { expect, test } from 'vitest';
import { step } from '../../../test/synthetic-channel.ts';
import { hostOn } from '../../../test/synthetic-host.ts';
import { NodeMaker } from '../../../test/synthetic-node.ts';
import type { HostRequest, ProcessorHost } from './processor-host.ts';
import { stepsOn } from './run-step.ts';

const FILE = { name: 'bundles/a.tgz', bytes: 1, file: '0'.repeat(32), sha256: '0'.repeat(64) };
const record = { files: [FILE] };

const processor = {
  way: 'http',
  scheme: 'http',
  path: '/processor/mountInfoCollector',
  timeoutSeconds: 5,
} as const;

/** A step whose host stores a file first. */
function run(then: (request: HostRequest) => Promise<unknown>) {
  const node = new NodeMaker().file('/proc/1/mountinfo', '').build();
  const uids: (string | undefined)[] = [];
  const withHost = async <T>(
    request: HostRequest,
    use: (host: ProcessorHost) => Promise<T>,
  ): Promise<T> => {
    uids.push(request.uid);
    request.onFile?.(FILE);
    await then(request);
    return use(hostOn(node));
  };
  return { outcome: stepsOn({ withHost })(step({ processor })), uids };
}

test('the result of a step lists the files that its host stored for its Diagnosis', async () => {
  const { outcome, uids } = run(async () => {});
  expect(await outcome).toMatchObject({ succeeded: true, record });
  expect(uids).toEqual([step().diagnosis.uid]);
});

test('a step that fails after it stored a file lists it', async () => {
  const { outcome } = run(() => Promise.reject(new Error('no space left')));
  expect(await outcome).toMatchObject({ succeeded: false, message: /no space left/, record });
});

test('so does a step whose further actions need approval', async () => {
  const wanted = { fault: 'a-fault', finding: '3f9a1c', summary: 'it is broken' };
  const action = { kind: 'set-aside', podUid: 'u1', volume: 'data', inode: '7' } as const;
  const { outcome } = run(({ consent }) =>
    consent({ ...wanted, actions: [action], touches: '', leaves: '' }),
  );
  expect(await outcome).toMatchObject({ planned: [{ ...wanted, kind: 'set-aside' }], record });
});
