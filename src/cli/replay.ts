import { existsSync, readFileSync, statSync } from 'node:fs';
import { BundleError, bundleOfFiles, unpackBundle } from '../node/bundle.ts';
import { bundleFilesIn } from '../node/bundle-folder.ts';
import { chooseFaults } from './choose-faults.ts';
import { podName } from './options.ts';
import { type ReportFormat, showReport } from './show-report.ts';
import { replayLook } from './take-look.ts';
import type { Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

export interface ReplayOptions {
  readonly output?: ReportFormat;
  readonly pod?: string;
}

/** `kubediag replay FILE [FAULT...]`: judges a recorded node, with the same report. */
export async function replay(
  path: string,
  names: readonly string[],
  options: ReplayOptions,
  terminal: Terminal,
): Promise<number> {
  const faults = chooseFaults(names);
  const only = options.pod === undefined ? undefined : podName(options.pod);
  const bundle = readBundle(path);
  const { clock } = bundle.recording;
  if (!options.output) terminal.hint(`replay of what was recorded at ${clock.toISOString()}\n`);
  return showReport(await replayLook(bundle, faults, only), options.output, terminal);
}

function readBundle(path: string) {
  if (!existsSync(path)) throw new UsageError(`there is no bundle at ${path}`);
  try {
    return bundleOfFiles(
      statSync(path).isDirectory() ? bundleFilesIn(path) : unpackBundle(readFileSync(path)),
    );
  } catch (error) {
    if (!(error instanceof BundleError)) throw error;
    throw new UsageError(
      `${path} is not a sound bundle: ${error.message}. Copy it again, or record it again on the node: kubediag bundle`,
    );
  }
}
