import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  adviceOn,
  DiskError,
  makeFolder,
  prepareFolder,
  tried,
} from '../../lib/state/state-folder.ts';
import type { Report } from '../../node/checkup/report.ts';
import type { CheckResult } from '../../node/checkup/run-check.ts';
import { redactionRules } from '../../node/faults/index.ts';
import { type Bundle, filesOfBundle, packBundle } from '../../node/recording/bundle.ts';
import { BundleError } from '../../node/recording/bundle-error.ts';
import { redactAnswers } from '../../node/redaction/redact.ts';
import { VERSION } from './product-version.ts';
import { writeNewFile } from './write-new-file.ts';

/** Bundles that are retained. A bundle has a few hundred kilobytes on a large node. */
const BUNDLES_MAX = 100;

type Saved = { readonly path: string } | Unsaved;

/** Why a bundle could not be written, and what to do about it. */
export interface Unsaved {
  readonly failure: string;
  readonly todo: string;
}

// 20261115T102233-3f9a1c.tgz
export function bundleNameOf({ node }: Pick<Report, 'node'>, findingId: string): string {
  return `${node.time.replace(/[-:]|\.\d+Z$/g, '')}-${findingId}.tgz`;
}

/** What a check read, without private data. */
export function bundleOf({ recording, report, settings }: CheckResult): Bundle {
  const { clock, answers } = recording;
  return {
    recording: { clock, answers: redactAnswers(answers, redactionRules) },
    madeBy: VERSION,
    tookMs: report.node.tookMs,
    settings: { ...settings },
  };
}

/** Saves the evidence of a recovery below the state directory. */
export async function saveBundle(
  bundle: Bundle,
  stateFolder: string,
  name: string,
): Promise<Saved> {
  // A directory that another user can write could redirect us to another file.
  const prepared = await tried(prepareFolder(stateFolder));
  if (!prepared.ok) return { failure: prepared.why, todo: prepared.todo };
  const folder = join(stateFolder, 'bundles');
  return writeBundle(bundle, join(folder, name), (path, packed) => {
    makeFolder(folder);
    // A bundle of the same finding in the same second is replaced.
    rmSync(path, { force: true });
    writeNewFile(path, packed);
    removeOldest(folder);
  });
}

/** Why a recovery could not save its evidence and its journal; changes nothing. */
export async function checkSaving(
  bundle: Bundle,
  stateFolder: string,
): Promise<Unsaved | undefined> {
  try {
    const { length } = await packBundle(await filesOfBundle(bundle));
    const checked = await tried(requireSpace(join(stateFolder, 'bundles'), length));
    return checked.ok ? undefined : { failure: checked.why, todo: checked.todo };
  } catch (error) {
    if (error instanceof BundleError) return { failure: error.message, todo: TOO_LARGE };
    throw error;
  }
}

const MAKE_SPACE = 'free some space (see df -h and df -i), or choose another --state-dir';
const TOO_LARGE = 'look at fewer faults at once';

/** The directory, the bundle under two names, the lock, its holder and the journal. */
const NEW_FILES = 6;
/** One each for the holder of the lock and for a line of the journal. */
const OTHER_BLOCKS = 2;

async function requireSpace(folder: string, sizeBytes: number): Promise<void> {
  let there = folder;
  while (!existsSync(there) && dirname(there) !== there) there = dirname(there);
  if (!statSync(there).isDirectory()) {
    throw new DiskError(`${there}: not a directory`, 'choose another --state-dir');
  }
  const { bsize, bfree, bavail, files, ffree } = await statfs(there);
  const freeBytes = bsize * (process.geteuid?.() === 0 ? bfree : bavail);
  const neededBytes = bsize * (Math.ceil(sizeBytes / bsize) + OTHER_BLOCKS);
  if (freeBytes < neededBytes) {
    const why = `${neededBytes} bytes needed, ${freeBytes} free`;
    throw new DiskError(`${there}: no space left on device (${why})`, MAKE_SPACE);
  }
  // Filesystems without a fixed number of files, such as btrfs, report 0.
  if (files > 0 && ffree < NEW_FILES) {
    throw new DiskError(`${there}: no space left on device (${ffree} inodes free)`, MAKE_SPACE);
  }
}

/** Names begin with the time, so the oldest come first. Other files are not touched. */
function removeOldest(folder: string): void {
  // 20261115T102233-3f9a1c.tgz
  const ours = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && /^\d{8}T\d{6}-[0-9a-f]+\.tgz$/.test(entry.name))
    .map(({ name }) => name);
  for (const name of ours.toSorted().slice(0, -BUNDLES_MAX)) rmSync(join(folder, name));
}

/** Writes a bundle to a new file that only root can read: it names pods, paths and volumes. */
export async function writeBundle(
  bundle: Bundle,
  path: string,
  write = writeNewFile,
  instead?: string,
): Promise<Saved> {
  try {
    const packed = await packBundle(await filesOfBundle(bundle));
    write(path, packed);
    return { path };
  } catch (error) {
    if (error instanceof BundleError) return { failure: error.message, todo: TOO_LARGE };
    const advice = adviceOn(error, instead);
    if (advice) return { failure: advice.why, todo: advice.todo };
    // The message for an existing file already says what to do.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return { failure: (error as Error).message, todo: instead ?? 'choose another --state-dir' };
  }
}
