import { existsSync } from 'node:fs';
import { VERSION } from '../host/product-version.ts';
import { replayLook } from '../host/take-look.ts';
import { bundleOfFiles } from '../node/bundle.ts';
import { BundleError, NewerBundleError } from '../node/bundle-error.ts';
import { bundleFilesAt } from '../node/bundle-folder.ts';
import { chooseFaults } from './choose-faults.ts';
import { reasonOf } from './given-file.ts';
import { type GlobalOptions, podName } from './options.ts';
import { formatOf, type ReportFormat, showReport } from './show-report.ts';
import type { Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

export interface ReplayOptions extends GlobalOptions {
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
  if (!existsSync(path)) throw new UsageError(`there is no bundle at ${path}`);
  const { report, clock } = await judged(path, faults, only);
  const code = await showReport(report, formatOf(options), terminal);
  if (!options.output) terminal.hint(`replay of what was recorded at ${clock.toISOString()}\n`);
  return code;
}

async function judged(
  path: string,
  faults: ReturnType<typeof chooseFaults>,
  only: ReturnType<typeof podName> | undefined,
) {
  try {
    const bundle = bundleOfFiles(bundleFilesAt(path));
    return { report: await replayLook(bundle, faults, only), clock: bundle.recording.clock };
  } catch (error) {
    if (!(error instanceof BundleError)) throw error;
    if (error instanceof NewerBundleError) {
      throw new UsageError(
        `${path} was made by kubediag ${error.madeBy}, which is newer than this one (${VERSION}): ` +
          `${error.message}. Replay it with kubediag ${error.madeBy} or newer`,
      );
    }
    if (error.cause instanceof Error && 'syscall' in error.cause) {
      throw new UsageError(`${path} cannot be read: ${reasonOf(error.cause, path)}`);
    }
    throw new UsageError(
      `${path} is not a sound bundle: ${error.message}. Copy it again, or record it again on the node: kubediag bundle`,
    );
  }
}
