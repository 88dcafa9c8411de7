import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fixtureAt } from '../../../test/fault-fixtures.ts';
import { textOf } from '../../lib/std/text-codec.ts';
import { replayCheck } from '../checkup/replay.ts';
import { faults } from '../faults/index.ts';
import { attempt } from '../model/evidence.ts';
import type { QuestionKind } from '../model/node-reader.ts';
import { type Bundle, bundleOfFiles, filesOfBundle, manifestOf } from './bundle.ts';
import { BundleError } from './bundle-error.ts';
import { RecordedNode } from './recorded-node.ts';
import { questionOf } from './recording.ts';

/** A bundle whose checksums are right, whatever stands in it. */
async function read(lines: readonly string[], manifest: object = {}): Promise<Bundle | undefined> {
  const answers = Buffer.from(lines.join('\n'));
  const recording = { clock: new Date(0) };
  const fixture = { madeBy: '0.1.0', tookMs: 1, settings: {}, recording };
  const files = new Map<string, Uint8Array>([['answers.jsonl', answers]]);
  const checksummed = JSON.parse(textOf(await manifestOf(fixture, files))) as object;
  files.set('manifest.json', Buffer.from(JSON.stringify({ ...checksummed, ...manifest })));
  try {
    return await bundleOfFiles(files);
  } catch (error) {
    expect(error).toBeInstanceOf(BundleError);
    return undefined;
  }
}

const FILES = await filesOfBundle(await fixtureAt('stale-subpath-mount/broken-configmap'));
const SOUND = new TextDecoder().decode(FILES.get('answers.jsonl')).split('\n').filter(Boolean);

const text = expect.any(String);
const number = expect.any(Number);

/** Said in other words than in the code that is tested. */
const RIGHT: Readonly<Record<QuestionKind, unknown>> = {
  file: text,
  link: text,
  version: text,
  folder: expect.any(Array),
  status: expect.objectContaining({ type: text, device: text, inode: text, mode: number }),
  kubelet: { status: number, body: text },
  tree: expect.any(Array),
  entries: expect.any(Array),
  processes: expect.any(Array),
  inotify: expect.any(Array),
  threads: expect.any(Array),
  stacks: expect.any(Array),
  openFiles: expect.any(Array),
  goroutines: expect.objectContaining({ groups: expect.any(Array), total: number }),
  profile: text,
  log: expect.objectContaining({ lines: expect.any(Array), counts: expect.any(Array) }),
  runtime: expect.objectContaining({ criVersion: expect.stringMatching(/^v1(alpha2)?$/) }),
};

async function expectRightAnswers({ recording }: Bundle): Promise<void> {
  const node = new RecordedNode(recording);
  for (const key of recording.answers.keys()) {
    const { kind, question } = questionOf(key);
    const asked = await attempt(node.ask(kind, question));
    expect(asked.known ? asked.value : asked.why).toEqual(asked.known ? RIGHT[kind] : text);
    for (const name of asked.known && kind === 'folder' ? (asked.value as string[]) : []) {
      expect(name).toEqual(text);
    }
  }
}

const odd = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom(null, [], {}, '', 0, -1, '/x', [1], { path: 1 }, 'file', 'status', 'missing'),
);
const field = fc.constantFrom('kind', 'question', 'failure', 'detail', 'value', 'status', 'text');
const line = fc.oneof(
  odd,
  fc.dictionary(fc.oneof(field, fc.constant('blob')), odd),
  fc.record({
    kind: fc.constantFrom('file', 'link', 'folder', 'status', 'kubelet', 'runtime', 'version'),
    question: fc.oneof(
      odd,
      fc.record({ path: fc.string() }),
      fc.record({ socket: fc.string(), call: fc.constantFrom('Version', 'Remove', 1) }),
      fc.record({ program: fc.string(), arguments: odd }),
      fc.constant({ scheme: 'http', address: 'a', port: 1, path: '/pods' }),
    ),
    value: odd,
    status: odd,
    text: fc.option(odd, { nil: undefined }),
    failure: fc.option(odd, { nil: undefined }),
  }),
);

test('any lines with the right checksum are a bundle of right answers, or none', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 3 }), async (lines) => {
      const bundle = await read(lines.map((each) => JSON.stringify(each)));
      if (bundle) await expectRightAnswers(bundle);
    }),
    { numRuns: 2_000 },
  );
});

test('a recorded node in which anything was replaced is judged, or is no bundle', async () => {
  const place = fc.tuple(fc.nat(SOUND.length - 1), fc.array(fc.nat(), { maxLength: 6 }));
  await fc.assert(
    fc.asyncProperty(place, odd, async ([at, steps], value) => {
      const changed = SOUND.with(at, replaceIn(SOUND[at] ?? '', steps, value));
      const bundle = await read(changed);
      if (!bundle) return;
      await expectRightAnswers(bundle);
      expect((await replayCheck(bundle, faults, undefined)).kind).toBe('Report');
    }),
    { numRuns: 300 },
  );
});

/** The line with another value at a place inside it, to which the steps lead. */
function replaceIn(json: string, steps: readonly number[], value: unknown): string {
  const replace = (here: unknown, [step, ...rest]: readonly number[]): unknown => {
    if (step === undefined || typeof here !== 'object' || here === null) return value;
    const keys = Object.keys(here);
    const key = keys[step % Math.max(1, keys.length)] ?? '';
    const next = replace((here as Record<string, unknown>)[key], rest);
    return Array.isArray(here) ? here.with(Number(key), next) : { ...here, [key]: next };
  };
  return JSON.stringify(replace(JSON.parse(json), steps));
}

describe('no bundle', () => {
  test.each([
    ['a line that is null', 'null'],
    ['a line that is a list', '[]'],
    ['an unknown kind', '{"kind":"toString","question":{"path":"/x"},"text":""}'],
    ['no question', '{"kind":"file","text":""}'],
    ['a path that is a number', '{"kind":"file","question":{"path":1},"text":""}'],
    ['a file that is a list', '{"kind":"file","question":{"path":"/x"},"value":["a"]}'],
    ['a directory that is a text', '{"kind":"folder","question":{"path":"/x"},"text":"a"}'],
    ['a directory of numbers', '{"kind":"folder","question":{"path":"/x"},"value":[1]}'],
    ['a status without a type', '{"kind":"status","question":{"path":"/x"},"value":{"mode":1}}'],
    ['an unknown failure', '{"kind":"file","question":{"path":"/x"},"failure":"tired"}'],
    [
      'a detail that is a number',
      '{"kind":"file","question":{"path":"/x"},"failure":"failed","detail":1}',
    ],
    [
      'a program without words',
      '{"kind":"version","question":{"program":"/k"},"failure":"failed"}',
    ],
  ])('%s', async (_, odder) => {
    expect(await read([odder])).toBeUndefined();
  });

  test('a question that is nested without end', async () => {
    const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
    const odder = `{"kind":"file","question":{"path":"/x","more":${deep}},"text":""}`;
    expect(await read([odder])).toBeUndefined();
  });

  test.each([{ tookMs: 'long' }, { tookMs: {} }, { clock: 5 }, { checksums: null }])(
    'a manifest with %j',
    async (manifest) => {
      expect(await read(SOUND, manifest)).toBeUndefined();
    },
  );

  test.each([{ kubeletRoot: 5 }, { kubeletPid: '812' }, { runtimeEndpoint: {} }])(
    'settings such as %j',
    async (settings) => {
      const bundle = await read(SOUND, { settings });
      expect(bundle).toBeDefined();
      await expect(replayCheck(bundle as Bundle, faults, undefined)).rejects.toThrow(BundleError);
    },
  );
});
