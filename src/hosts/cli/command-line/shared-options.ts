import type { OptionSpec } from '../../../lib/terminal/command-spec.ts';
import { REPORT_FORMATS } from '../screens/show-report.ts';
import { STATE_FOLDER } from './options.ts';
import { VALIDATE_MODES } from './validate-mode.ts';

/** Options that several commands take. */

export const FOR_PROGRAMS = {
  flags: '-o, --output <FORMAT>',
  about: 'print for programs',
  choices: ['json'],
} as const satisfies OptionSpec;

export const REPORT_FORMAT = {
  flags: '-o, --output <FORMAT>',
  about: 'wide: with every detail',
  choices: REPORT_FORMATS,
} as const satisfies OptionSpec;

export const REPORT_OPTIONS = [
  REPORT_FORMAT,
  { flags: '--pod <NAMESPACE/NAME>', about: 'only findings about this pod' },
] as const satisfies readonly OptionSpec[];

export const HOST_ROOT = {
  flags: '--host-root <DIR>',
  about: "the node's root directory, as seen from here",
  default: '/',
} as const satisfies OptionSpec;

export const KUBELET_PID = {
  flags: '--kubelet-pid <PID>',
  about: 'process ID of the kubelet (default: found automatically)',
} as const satisfies OptionSpec;

export const NODE_OPTIONS = [
  { flags: '--timeout <DURATION>', about: 'time limit of the check', default: '30s' },
  HOST_ROOT,
  {
    flags: '--kubelet-root <DIR>',
    about: 'root directory of the kubelet (default: found automatically)',
  },
  KUBELET_PID,
  {
    flags: '--runtime-endpoint <SOCKET>',
    about: 'socket of the container runtime (default: found automatically)',
  },
  { flags: '--kubelet-token-file <FILE>', about: 'bearer token for the kubelet API' },
  { flags: '--kubelet-cert <FILE>', about: 'client certificate for the kubelet API' },
  { flags: '--kubelet-key <FILE>', about: 'private key of that certificate' },
  {
    flags: '--kubelet-log <FILE>',
    about: 'log file of the kubelet (default: found automatically)',
  },
  {
    flags: '--min-age <DURATION>',
    about: 'ignore leftover directories younger than this (default: 10m)',
  },
] as const satisfies readonly OptionSpec[];

export const NODE_NAME = {
  flags: '--node-name <NODE>',
  about: 'name of this node (default: the name that the kubelet uses)',
} as const satisfies OptionSpec;

export const RECURSIVE = {
  flags: '-R, --recursive',
  about: 'read the subdirectories of a directory given with -f too',
} as const satisfies OptionSpec;

export const MANIFEST_OPTIONS = [
  {
    flags: '-f, --filename <FILE...>',
    about: 'YAML or JSON files, or directories of them; "-" is standard input',
    isRequired: true,
  },
  RECURSIVE,
] as const satisfies readonly OptionSpec[];

export const VALIDATE = {
  flags: '--validate [MODE]',
  about:
    'how to treat unknown fields: strict (or true) refuses them, warn drops them with a warning, ignore (or false) drops them',
  choices: VALIDATE_MODES,
  default: 'strict',
  preset: 'strict',
} as const satisfies OptionSpec;

export const STATE_DIR = {
  flags: '--state-dir <DIR>',
  about: `state directory: journal, bundles, store (default: ${STATE_FOLDER} on the node)`,
} as const satisfies OptionSpec;
