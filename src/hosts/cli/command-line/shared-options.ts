import { option } from '../../../lib/terminal/command-spec.ts';
import { REPORT_FORMATS } from '../screens/show-report.ts';
import { VALIDATE_MODES } from './validate-mode.ts';

export const STATE_FOLDER = '/var/lib/kubediag';

/** Options that several commands take. */

export const FOR_PROGRAMS = option('-o, --output <FORMAT>', 'print for programs', {
  choices: ['json'],
});

export const REPORT_FORMAT = option('-o, --output <FORMAT>', 'wide: with every detail', {
  choices: REPORT_FORMATS,
});

export const REPORT_OPTIONS = [
  REPORT_FORMAT,
  option('--pod <NAMESPACE/NAME>', 'only findings about this pod'),
] as const;

export const HOST_ROOT = option(
  '--host-root <DIR>',
  "the node's root directory, as seen from here",
  { default: '/' },
);

export const KUBELET_PID = option(
  '--kubelet-pid <PID>',
  'process ID of the kubelet (default: found automatically)',
);

export const NODE_OPTIONS = [
  option('--timeout <DURATION>', 'time limit of the check', { default: '30s' }),
  HOST_ROOT,
  option('--kubelet-root <DIR>', 'root directory of the kubelet (default: found automatically)'),
  KUBELET_PID,
  option(
    '--runtime-endpoint <SOCKET>',
    'socket of the container runtime (default: found automatically)',
  ),
  option('--kubelet-token-file <FILE>', 'bearer token for the kubelet API'),
  option('--kubelet-cert <FILE>', 'client certificate for the kubelet API'),
  option('--kubelet-key <FILE>', 'private key of that certificate'),
  option('--kubelet-log <FILE>', 'log file of the kubelet (default: found automatically)'),
  option('--min-age <DURATION>', 'ignore leftover directories younger than this (default: 10m)'),
] as const;

export const NODE_NAME = option(
  '--node-name <NODE>',
  'name of this node (default: the name that the kubelet uses)',
);

export const RECURSIVE = option(
  '-R, --recursive',
  'read the subdirectories of a directory given with -f too',
);

export const MANIFEST_OPTIONS = [
  option(
    '-f, --filename <FILE...>',
    'YAML or JSON files, or directories of them; "-" is standard input',
    { isRequired: true },
  ),
  RECURSIVE,
] as const;

export const VALIDATE = option(
  '--validate [MODE]',
  'how to treat unknown fields: strict (or true) refuses them, warn drops them with a warning, ignore (or false) drops them',
  { choices: VALIDATE_MODES, default: 'strict', preset: 'strict' },
);

export const STATE_DIR = option(
  '--state-dir <DIR>',
  `state directory: journal, bundles, store (default: ${STATE_FOLDER} on the node)`,
);
