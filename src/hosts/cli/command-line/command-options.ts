import { type Command, Option } from 'commander';
import { REPORT_FORMATS } from '../screens/show-report.ts';
import { STATE_FOLDER } from './options.ts';
import { VALIDATE_MODES } from './validate-mode.ts';

/** Options that several commands take, each in the same words. */

export function withReportOptions(command: Command): Command {
  return command
    .addOption(
      new Option('-o, --output <FORMAT>', 'wide: with every detail').choices(REPORT_FORMATS),
    )
    .option('--pod <NAMESPACE/NAME>', 'only what concerns this pod');
}

export function withNodeOptions(command: Command): Command {
  return command
    .option('--timeout <TIME>', 'how long the look may take', '30s')
    .addOption(hostRootOption())
    .option('--kubelet-root <DIR>', "the kubelet's folder, when it is not found by itself")
    .option('--kubelet-pid <PID>', 'take this process for the kubelet')
    .option('--runtime-endpoint <SOCKET>', 'socket of the container runtime')
    .option('--kubelet-token-file <FILE>', 'token to ask the kubelet for its pods')
    .option('--kubelet-cert <FILE>', 'client certificate to ask the kubelet for its pods')
    .option('--kubelet-key <FILE>', 'key of that certificate')
    .option('--kubelet-log <FILE>', 'the file the kubelet logs to, when it is not found by itself')
    .option('--min-age <TIME>', 'how old a left-over folder must be to count (default: 10m)');
}

export function withManifestOptions(command: Command): Command {
  return command
    .requiredOption('-f, --filename <FILE...>', 'YAML or JSON, folders of it; "-" is the input')
    .addOption(recursiveOption());
}

export function recursiveOption(): Option {
  return new Option('-R, --recursive', 'with -f FOLDER: read its subfolders too');
}

export function validateOption(): Option {
  return new Option(
    '--validate [MODE]',
    'unknown fields: strict (or true) refuses, warn drops them with a warning, ignore (or false) drops them',
  )
    .choices(VALIDATE_MODES)
    .default('strict')
    .preset('strict');
}

export function stateOption(): Option {
  const where = `where journal and bundles are kept (default: ${STATE_FOLDER} of the node)`;
  return new Option('--state-dir <DIR>', where);
}

export function hostRootOption(): Option {
  return new Option('--host-root <DIR>', "where the node's root is, seen from here").default('/');
}
