import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { NodeMaker } from '../../../test/synthetic-node.ts';
import {
  type Bundle,
  bundleOfFiles,
  filesOfBundle,
  manifestOf,
  packBundle,
  unpackBundle,
} from './bundle.ts';
import { BundleError } from './bundle-error.ts';

function bundleWith(maker: NodeMaker): Bundle {
  const recording = { clock: maker.clock, answers: maker.answers };
  return { recording, madeBy: '0.1.0', tookMs: 12, settings: { kubeletRoot: '/k' } };
}

const sample = bundleWith(
  new NodeMaker()
    .file('/proc/1/mountinfo', 'short\n')
    .file('/proc/2/mountinfo', 'long \udcff\n'.repeat(5_000))
    .folder('/proc', ['1', '\udcfe'])
    .missing('file', '/x')
    .set(
      'kubelet',
      { scheme: 'http', address: '127.0.0.1', port: 10255, path: '/pods' },
      { answer: { status: 200, body: '{}' } },
    )
    .set('version', { program: '/k', arguments: [] }, { failure: 'failed', detail: 'exit 1' }),
);

async function packed(bundle: Bundle): Promise<Uint8Array> {
  return packBundle(await filesOfBundle(bundle));
}

async function again(bundle: Bundle): Promise<Bundle> {
  return bundleOfFiles(await unpackBundle(await packed(bundle)));
}

test('what was recorded comes back, to the byte, also what is no text', async () => {
  expect(await again(sample)).toEqual(sample);
});

test('the same recording is the same file', async () => {
  expect(await packed(sample)).toEqual(await packed(sample));
});

test('any texts and failures survive', async () => {
  const recorded = fc.oneof(
    fc.string({ unit: 'binary' }).map((answer) => ({ answer: answer.toWellFormed() })),
    fc.constant({ failure: 'timeout' as const }),
  );
  await fc.assert(
    fc.asyncProperty(fc.dictionary(fc.string(), recorded), async (answers) => {
      const maker = new NodeMaker();
      for (const [path, each] of Object.entries(answers)) maker.set('file', { path }, each);
      const bundle = bundleWith(maker);
      expect(await again(bundle)).toEqual(bundle);
    }),
  );
});

test.each([
  ['not asked, because 4 readers already wait on dead paths', 'not-asked'],
  ['the time limit of 8 s (--timeout) was reached', 'not-asked'],
  ['the time limit of the step, 30 s, was reached', 'not-asked'],
  ['the time limit was reached', 'not-asked'],
  ['you asked to stop', 'not-asked'],
  ['somebody pressed Ctrl-C', 'not-asked'],
  ['reader 4711 still waits there', 'timeout'],
  ['no answer from /run/containerd/containerd.sock within 5000 ms', 'timeout'],
  ["ETIMEDOUT: connection timed out, lstat '/k'", 'timeout'],
])('a timeout of an older recording with "%s" is %s', async (detail, failure) => {
  const bundle = (recorded: 'timeout' | 'not-asked') =>
    bundleWith(new NodeMaker().set('status', { path: '/k' }, { failure: recorded, detail }));
  expect(await again(bundle('timeout'))).toEqual(bundle(failure as 'timeout' | 'not-asked'));
});

const bomb = gzipSync(Buffer.alloc(300 * 1024 * 1024), { level: 1 });
const ANSWER = '{"kind":"folder","question":{"path":"/x"},"value":[]}';

/** A bundle with these lines, and a manifest that vouches for them. */
async function withAnswers(lines: string | readonly string[]): Promise<Bundle> {
  const text = typeof lines === 'string' ? lines : lines.join('\n');
  const files = new Map<string, Uint8Array>([['answers.jsonl', Buffer.from(text)]]);
  files.set('manifest.json', await manifestOf(sample, files));
  return bundleOfFiles(files);
}

describe('what is no sound bundle says why', async () => {
  const files = await filesOfBundle(sample);
  const without = (name: string) => new Map([...files].filter(([each]) => each !== name));
  const changed = new Map([...files, ['answers.jsonl', Buffer.from('{"kind":"file"}\n')]]);

  test.each([
    ['a changed answer', () => bundleOfFiles(changed), /was changed since/],
    ['no manifest', () => bundleOfFiles(without('manifest.json')), /manifest.json is missing/],
    ['no answers', () => bundleOfFiles(without('answers.jsonl')), /answers.jsonl is missing/],
    [
      'a missing blob',
      () => bundleOfFiles(new Map([...files].filter(([n]) => !n.startsWith('blobs')))),
      /blobs.* is missing/,
    ],
    [
      'another format',
      () => bundleOfFiles(new Map([['manifest.json', Buffer.from('{"format":9}')]])),
      /format is 9/,
    ],
    ['no gzip', () => unpackBundle(Buffer.from('hello')), /gzip: /],
    ['cut off', async () => unpackBundle((await packBundle(files)).subarray(0, 200)), /gzip: /],
    ['no tar inside', () => unpackBundle(gzipSync(Buffer.alloc(700, 'x'))), /not a valid tar/],
    ['a bomb', () => unpackBundle(bomb), /gzip: /],
    ['deep JSON', () => withAnswers('['.repeat(101)), /answers.jsonl: nested more than/],
    [
      'values without end, in many lines',
      () => withAnswers(`${ANSWER.replace('[]', `[${'"",'.repeat(500_000)}""]`)}\n`.repeat(11)),
      /more than \d+ values/,
    ],
    [
      'answers without end',
      () => withAnswers(Array.from(Array(100_001).keys(), (x) => ANSWER.replace('/x', `/${x}`))),
      /more than 100000 answers/,
    ],
  ])('%s', async (_, read: () => Promise<unknown>, why) => {
    await expect(read()).rejects.toThrow(BundleError);
    await expect(read()).rejects.toThrow(why);
  });

  test('any bytes', async () => {
    const bytes = fc.oneof(
      fc.uint8Array(),
      fc.uint8Array().map((raw) => gzipSync(raw)),
    );
    await fc.assert(
      fc.asyncProperty(bytes, async (some) => {
        const read = unpackBundle(some).then(bundleOfFiles);
        await expect(read).rejects.toThrow(BundleError);
      }),
    );
  });
});
