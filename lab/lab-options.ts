import type { KubeletVersion } from './settings.ts';

/** The practice node: the same option in every command of the lab. */
export interface NameOption {
  readonly name: string;
}

/** The options that create a practice node. */
export interface MakeOptions extends NameOption {
  readonly kubelet?: string;
  readonly kubeletVersion: KubeletVersion;
  readonly runtime: 'auto' | 'containerd' | 'stand-in';
  readonly runtimeEndpoint?: string;
}
