/** What the value of an option must name. */
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
   * Where its path is: on the node, below --host-root; on this machine; or a file of ours, which this
   * process opens itself.
   */
  readonly on: 'node' | 'here' | 'own';
}

/** Every option whose value must exist. The root comes first: the others lie below it. */
const NAMED_OPTIONS: readonly NamedOption[] = [
  { flag: '--host-root', key: 'hostRoot', kind: 'host-root', on: 'here' },
  { flag: '--state-dir', key: 'stateDir', kind: 'state-folder', on: 'own' },
  { flag: '--server', key: 'server', kind: 'address', on: 'own' },
  { flag: '--token-file', key: 'tokenFile', kind: 'file', on: 'own' },
  { flag: '--kubelet-token-file', key: 'kubeletTokenFile', kind: 'file', on: 'here' },
  { flag: '--kubelet-cert', key: 'kubeletCert', kind: 'file', on: 'here' },
  { flag: '--kubelet-key', key: 'kubeletKey', kind: 'file', on: 'here' },
  { flag: '--bpftrace', key: 'bpftrace', kind: 'program', on: 'here' },
  { flag: '--kubelet', key: 'kubelet', kind: 'program', on: 'here' },
  { flag: '--kubelet-pid', key: 'kubeletPid', kind: 'process', on: 'node' },
  { flag: '--kubelet-root', key: 'kubeletRoot', kind: 'folder', on: 'node' },
  { flag: '--kubelet-log', key: 'kubeletLog', kind: 'file', on: 'node' },
  { flag: '--runtime-endpoint', key: 'runtimeEndpoint', kind: 'socket', on: 'node' },
];

/** The options that a person gave. */
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
