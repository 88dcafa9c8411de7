import type { KubeletVersion } from './settings.ts';

/** Which practice node: the same option of every command of the lab. */
export interface NameOption {
  readonly name: string;
}

/** What a practice node is made with, as a person words it. */
export interface MakeOptions extends NameOption {
  readonly kubelet?: string;
  readonly kubeletVersion: KubeletVersion;
  readonly runtime: 'auto' | 'containerd' | 'stand-in';
  readonly runtimeEndpoint?: string;
}
