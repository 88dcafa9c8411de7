import { type OptionsOf, option } from '../../../lib/terminal/command-spec.ts';
import type { FieldValidation } from '../../../pipeline/api/unknown-fields.ts';

/** Options that several commands take, and values that the code of a command reads. */

export const STATE_FOLDER = '/var/lib/kubediag';

export const FOR_PROGRAMS = option('-o, --output <FORMAT>', 'print for programs', {
  choices: ['json'],
});

export const REPORT_FORMAT = option('-o, --output <FORMAT>', 'wide: with every detail', {
  choices: ['wide', 'json', 'yaml', 'name'],
});

export type ReportFormat = (typeof REPORT_FORMAT.choices)[number];

export const REPORT_OPTIONS = [
  REPORT_FORMAT,
  option('--pod <NAMESPACE/NAME>', 'only findings about this pod'),
] as const;

export type ReportOptions = OptionsOf<typeof REPORT_OPTIONS>;

/** The values of `kubediag get -o`. One that ends in "=" needs a template or a file behind it. */
export const OUTPUT_FORMATS = [
  'wide',
  'yaml',
  'json',
  'name',
  'jsonpath=',
  'jsonpath-file=',
  'jsonpath-as-json=',
  'custom-columns=',
  'custom-columns-file=',
] as const;

export const HOST_ROOT = option(
  '--host-root <DIR>',
  "the node's root directory, as seen from here",
  { default: '/', names: 'host-root' },
);

export const KUBELET_PID = option(
  '--kubelet-pid <PID>',
  'process ID of the kubelet (default: found automatically)',
  { names: 'process', on: 'node' },
);

export const NODE_OPTIONS = [
  option('--timeout <DURATION>', 'time limit of the check', { default: '30s' }),
  HOST_ROOT,
  option('--kubelet-root <DIR>', 'root directory of the kubelet (default: found automatically)', {
    names: 'folder',
    on: 'node',
  }),
  KUBELET_PID,
  option(
    '--runtime-endpoint <SOCKET>',
    'socket of the container runtime (default: found automatically)',
    { names: 'socket', on: 'node' },
  ),
  option('--kubelet-token-file <FILE>', 'bearer token for the kubelet API', { names: 'file' }),
  option('--kubelet-cert <FILE>', 'client certificate for the kubelet API', { names: 'file' }),
  option('--kubelet-key <FILE>', 'private key of that certificate', { names: 'file' }),
  option('--kubelet-log <FILE>', 'log file of the kubelet (default: found automatically)', {
    names: 'file',
    on: 'node',
  }),
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

export type ManifestOptions = OptionsOf<typeof MANIFEST_OPTIONS>;

/** The values of `--validate`, as in kubectl. */
export const VALIDATE_MODES = {
  strict: 'Strict',
  true: 'Strict',
  warn: 'Warn',
  ignore: 'Ignore',
  false: 'Ignore',
} as const satisfies Readonly<Record<string, FieldValidation>>;

export type ValidateMode = keyof typeof VALIDATE_MODES;

export const VALIDATE = option(
  '--validate [MODE]',
  'how to treat unknown fields: strict (or true) refuses them, warn drops them with a warning, ignore (or false) drops them',
  { choices: Object.keys(VALIDATE_MODES) as ValidateMode[], default: 'strict', preset: 'strict' },
);

export const STATE_DIR = option(
  '--state-dir <DIR>',
  `state directory: journal, bundles, store (default: ${STATE_FOLDER} on the node)`,
  { names: 'state-folder' },
);

/** The values of `apply --dry-run`, as in kubectl. */
export const DRY_RUN_MODES = ['none', 'client', 'server'] as const;
export type DryRunMode = (typeof DRY_RUN_MODES)[number];

export const AGENT_OPTIONS = [
  option('-n, --namespace <NAMESPACE>', 'the namespace', { default: 'default' }),
  option('--server <URL>', 'address of the agent (default: the socket in its state directory)', {
    names: 'address',
  }),
  option('--token-file <FILE>', "the agent's token (default: in its state directory)", {
    names: 'file',
    on: 'own',
  }),
  STATE_DIR,
  HOST_ROOT,
] as const;

/** How to find the agent, and the namespace of the objects. */
export type AgentOptions = OptionsOf<typeof AGENT_OPTIONS>;

export const SELECTORS = [
  option('-l, --selector <LABELS>', 'filter by labels: a=b,c!=d'),
  option('--field-selector <FIELDS>', 'filter by fields: status.phase=Running'),
  option('-A, --all-namespaces', 'use all namespaces'),
] as const;

export type SelectorOptions = OptionsOf<typeof SELECTORS>;
