/** What an option must name. */
export type NamedKind =
  | 'file'
  | 'folder'
  | 'host-root'
  | 'state-folder'
  | 'socket'
  | 'process'
  | 'program'
  | 'address';

export interface NamedOption {
  readonly flag: string;
  readonly key: string;
  readonly kind: NamedKind;
  /**
   * Whose path it is: the node's, looked up below --host-root; that of this machine; or one of our own
   * files, which this process opens itself.
   */
  readonly on: 'node' | 'here' | 'own';
  readonly advice?: string;
}

const FOUND_ALONE = 'without the option, kubediag looks for it';
const KUBELET_FILE = { kind: 'file', on: 'here' } as const;

/** Every option that names something which must exist. The root comes first: the others lie below it. */
const NAMED_OPTIONS: readonly NamedOption[] = [
  { flag: '--host-root', key: 'hostRoot', kind: 'host-root', on: 'here' },
  { flag: '--state-dir', key: 'stateDir', kind: 'state-folder', on: 'own' },
  { flag: '--server', key: 'server', kind: 'address', on: 'own' },
  { flag: '--token-file', key: 'tokenFile', kind: 'file', on: 'own' },
  { flag: '--kubelet-token-file', key: 'kubeletTokenFile', ...KUBELET_FILE },
  { flag: '--kubelet-cert', key: 'kubeletCert', ...KUBELET_FILE },
  { flag: '--kubelet-key', key: 'kubeletKey', ...KUBELET_FILE },
  { flag: '--bpftrace', key: 'bpftrace', kind: 'program', on: 'here' },
  { flag: '--kubelet', key: 'kubelet', kind: 'program', on: 'here' },
  {
    flag: '--kubelet-pid',
    key: 'kubeletPid',
    kind: 'process',
    on: 'node',
    advice: FOUND_ALONE,
  },
  {
    flag: '--kubelet-root',
    key: 'kubeletRoot',
    kind: 'folder',
    on: 'node',
    advice: FOUND_ALONE,
  },
  { flag: '--kubelet-log', key: 'kubeletLog', kind: 'file', on: 'node', advice: FOUND_ALONE },
  {
    flag: '--runtime-endpoint',
    key: 'runtimeEndpoint',
    kind: 'socket',
    on: 'node',
    advice: FOUND_ALONE,
  },
];

/** Those that a person gave. */
export function namedIn(
  options: object,
): readonly { readonly option: NamedOption; readonly value: string }[] {
  const values = new Map(Object.entries(options));
  return NAMED_OPTIONS.flatMap((option) => {
    const value: unknown = values.get(option.key);
    const isDefault = option.kind === 'host-root' && value === '/';
    return typeof value !== 'string' || isDefault ? [] : [{ option, value }];
  });
}
