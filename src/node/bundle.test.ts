import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { NodeMaker } from '../../test/made-node.ts';
import { type Bundle, bundleOfFiles, filesOfBundle, packBundle, unpackBundle } from './bundle.ts';
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

test('what was recorded comes back, to the byte, also what is no text', () => {
  expect(bundleOfFiles(unpackBundle(packBundle(filesOfBundle(sample))))).toEqual(sample);
});

test('the same recording is the same file', () => {
  expect(packBundle(filesOfBundle(sample))).toEqual(packBundle(filesOfBundle(sample)));
});

test('any texts and failures survive', () => {
  const recorded = fc.oneof(
    fc.string({ unit: 'binary' }).map((answer) => ({ answer: answer.toWellFormed() })),
    fc.constant({ failure: 'timeout' as const }),
  );
  fc.assert(
    fc.property(fc.dictionary(fc.string(), recorded), (answers) => {
      const maker = new NodeMaker();
      for (const [path, each] of Object.entries(answers)) maker.set('file', { path }, each);
      const bundle = bundleWith(maker);
      expect(bundleOfFiles(unpackBundle(packBundle(filesOfBundle(bundle))))).toEqual(bundle);
    }),
  );
});

describe('what is no sound bundle says why', () => {
  const files = filesOfBundle(sample);
  const without = (name: string) => new Map([...files].filter(([each]) => each !== name));
  const changed = new Map([...files, ['answers.jsonl', Buffer.from('{"kind":"file"}\n')]]);

  test.each([
    ['a changed answer', () => bundleOfFiles(changed), /was changed since/],
    ['no manifest', () => bundleOfFiles(without('manifest.json')), /no manifest/],
    ['no answers', () => bundleOfFiles(without('answers.jsonl')), /no answers/],
    [
      'a missing blob',
      () => bundleOfFiles(new Map([...files].filter(([n]) => !n.startsWith('blobs')))),
      /no blobs/,
    ],
    [
      'another format',
      () => bundleOfFiles(new Map([['manifest.json', Buffer.from('{"format":9}')]])),
      /format is 9/,
    ],
    ['no gzip', () => unpackBundle(Buffer.from('hello')), /cannot be unpacked/],
    ['cut off', () => unpackBundle(packBundle(files).subarray(0, 200)), /cannot be unpacked/],
    ['no tar inside', () => unpackBundle(gzipSync(Buffer.alloc(700, 'x'))), /not a sound tar/],
    ['a bomb', () => unpackBundle(gzipSync(Buffer.alloc(300 * 1024 * 1024))), /cannot be unpacked/],
  ])('%s', (_, read, why) => {
    expect(read).toThrow(BundleError);
    expect(read).toThrow(why);
  });

  test('any bytes', () => {
    const bytes = fc.oneof(
      fc.uint8Array(),
      fc.uint8Array().map((raw) => gzipSync(raw)),
    );
    fc.assert(
      fc.property(bytes, (packed) => {
        expect(() => bundleOfFiles(unpackBundle(packed))).toThrow(BundleError);
      }),
    );
  });
});
