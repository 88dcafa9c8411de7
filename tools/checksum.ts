import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleFilesIn } from '../src/hosts/local-node/bundle-folder.ts';
import { fieldAt, textAt } from '../src/lib/std/json.ts';
import { manifestOf } from '../src/node/recording/bundle.ts';

/**
 * `npm run checksum -- FOLDER...`: after a fixture was edited, writes the checksums of its files
 * into its manifest again. Everything else in the manifest stays.
 */
async function checksum(folder: string): Promise<void> {
  const files = bundleFilesIn(folder);
  const manifest: unknown = JSON.parse(Buffer.from(files.get('manifest.json') ?? '{}').toString());
  const settings = fieldAt(manifest, 'settings');
  const checksummed = await manifestOf(
    {
      recording: { clock: new Date(textAt(manifest, 'clock') ?? Date.now()) },
      madeBy: textAt(manifest, 'madeBy') ?? 'by hand',
      tookMs: Number(fieldAt(manifest, 'tookMs') ?? 0),
      settings: typeof settings === 'object' && settings !== null ? { ...settings } : {},
    },
    files,
  );
  writeFileSync(join(folder, 'manifest.json'), checksummed);
  console.error(`checksums written: ${folder}`);
}

const folders = process.argv.slice(2);
if (folders.length === 0) console.error('usage: npm run checksum -- FIXTURE_FOLDER...');
for (const folder of folders) await checksum(folder);
