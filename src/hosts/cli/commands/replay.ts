import { existsSync } from 'node:fs';
import { type GlobalOptions, type Terminal, UsageError } from '../../../lib/terminal/terminal.ts';
import { replayCheck } from '../../../node/checkup/replay.ts';
import { bundleOfFiles } from '../../../node/recording/bundle.ts';
import { BundleError, NewerBundleError } from '../../../node/recording/bundle-error.ts';
import { bundleFilesAt } from '../../local-node/bundle-folder.ts';
import { VERSION } from '../../local-node/product-version.ts';
import { podName } from '../command-line/options.ts';
import type { ReportOptions } from '../command-line/shared-options.ts';
import { chooseFaults } from '../input/choose-faults.ts';
import { reasonOf } from '../input/given-file.ts';
import { formatOf, showReport } from '../screens/show-report.ts';

export async function replay(
  [path = '', ...names]: readonly string[],
  options: ReportOptions & GlobalOptions,
  terminal: Terminal,
): Promise<number> {
  const faults = chooseFaults(names);
  const only = options.pod === undefined ? undefined : podName(options.pod);
  if (!existsSync(path)) throw new UsageError(`${path}: no such bundle`);
  const { report, clock } = await judged(path, faults, only);
  const code = await showReport(report, formatOf(options), terminal);
  if (!options.output) terminal.hint(`replay of a recording from ${clock.toISOString()}\n`);
  return code;
}

async function judged(
  path: string,
  faults: ReturnType<typeof chooseFaults>,
  only: ReturnType<typeof podName> | undefined,
) {
  try {
    const bundle = await bundleOfFiles(await bundleFilesAt(path));
    return { report: await replayCheck(bundle, faults, only), clock: bundle.recording.clock };
  } catch (error) {
    if (!(error instanceof BundleError)) throw error;
    if (error instanceof NewerBundleError) {
      throw new UsageError(
        `${path}: recorded by kubediag ${error.madeBy}, which is newer than this one (${VERSION}): ` +
          `${error.message}. Replay it with kubediag ${error.madeBy} or newer`,
      );
    }
    if (error.cause instanceof Error && 'syscall' in error.cause) {
      throw new UsageError(`${path}: ${reasonOf(error.cause, path)}`);
    }
    throw new UsageError(
      `${path}: not a valid bundle: ${error.message}. Copy it again, or record it again on the node: kubediag bundle`,
    );
  }
}
