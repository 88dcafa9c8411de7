import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { build } from 'esbuild';
import { afterAll, expect, test } from 'vitest';
import { EXECUTABLE, runProgram } from '../../../test/rig/run-kubediag.ts';
import { bundleFilesIn } from '../../hosts/local-node/bundle-folder.ts';
import { packBundle } from '../recording/bundle.ts';

const FAULTS = join(import.meta.dirname, '../faults');

/** What a page would load: the archive reader, the recorded node, and every fault. */
const PAGE = `
  import { replayCheck } from './replay.ts';
  import { faults } from '../faults/index.ts';
  import { bundleOfFiles, unpackBundle } from '../recording/bundle.ts';

  export async function reportOf(bytes) {
    const bundle = await bundleOfFiles(await unpackBundle(Uint8Array.from(bytes)));
    return JSON.stringify(await replayCheck(bundle, faults));
  }
`;

/** All that the page may find beside JavaScript itself; types/web.d.ts declares the same. */
const WEB = { TextDecoder, TextEncoder, ReadableStream, CompressionStream, DecompressionStream };

async function loadPage(): Promise<(packed: Uint8Array) => Promise<string>> {
  const { outputFiles } = await build({
    stdin: { contents: PAGE, resolveDir: import.meta.dirname },
    bundle: true,
    platform: 'browser',
    format: 'iife',
    globalName: 'page',
    write: false,
  });
  const context = createContext({ ...WEB, crypto });
  runInContext(outputFiles[0]?.text ?? '', context);
  return (packed) => {
    Object.assign(context, { packed });
    return runInContext('page.reportOf(packed)', context) as Promise<string>;
  };
}

const reportOf = await loadPage();
const scratch = mkdtempSync(join(tmpdir(), 'kubediag-browser-'));
afterAll(() => rmSync(scratch, { recursive: true }));

const recordings = readdirSync(FAULTS, { recursive: true, encoding: 'utf8' }).filter((path) =>
  // stale-subpath-mount/fixtures/recorded-kubelet-1.18.8-active
  /\/fixtures\/recorded-[^/]+(?<![.]json)$/.test(path),
);

test('there are recordings to replay', () => {
  expect(recordings.length).toBeGreaterThan(5);
});

test.each(recordings)('a browser gives the report of kubediag replay on %s', async (path) => {
  const packed = await packBundle(bundleFilesIn(join(FAULTS, path)));
  const archive = join(scratch, 'bundle.tgz');
  writeFileSync(archive, packed);
  const { stdout } = await runProgram([EXECUTABLE, 'replay', '-o', 'json', archive]);
  expect(JSON.parse(await reportOf(packed))).toEqual(JSON.parse(stdout));
});
