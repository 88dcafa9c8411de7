/** The settings of a lab, stored in `lab.json` on the node. */
export interface LabSettings {
  readonly name: string;
  /** "mnt:[4026532211]": a process in another mount namespace is not on the practice node. */
  readonly mountNamespace: string;
  readonly runtime: RuntimeChoice;
  readonly kubelet: KubeletChoice;
}

/** containerd: a real one, with these programs of the machine. stand-in: ours, also over CRI. */
export type RuntimeChoice =
  | { readonly kind: 'containerd'; readonly containerd: string; readonly runc: string }
  | { readonly kind: 'stand-in'; readonly why: string };

/** stand-in: ours, with the behaviour of a version. real: a program of the machine. */
export type KubeletChoice =
  | { readonly kind: 'stand-in'; readonly version: KubeletVersion }
  | { readonly kind: 'real'; readonly program: string; readonly version: string };

/**
 * The versions whose messages and behaviour the stand-in kubelet knows. v1.18.20 combines
 * behaviours of an older and a newer one, so that faults of both can be made together.
 */
export const KUBELET_VERSIONS = ['v1.18.8', 'v1.18.20', 'v1.36.3'] as const;
export type KubeletVersion = (typeof KUBELET_VERSIONS)[number];

/** What the stand-in kubelet reads in every iteration, so that a break can change it. */
export interface KubeletChanges {
  readonly version: KubeletVersion;
  /** Whether it removes exited containers. */
  readonly collects: boolean;
}

/** The option --name, the same in every command of the lab. */
export interface NameOption {
  readonly name: string;
}

/** The option --name in a suggested command; empty for the default name. */
export function nameOption(name: string): string {
  return name === 'practice' ? '' : ` --name ${name}`;
}

/** The options that create a practice node. */
export interface MakeOptions extends NameOption {
  readonly kubelet?: string;
  readonly kubeletVersion: KubeletVersion;
  readonly runtime: 'auto' | 'containerd' | 'stand-in';
  readonly runtimeEndpoint?: string;
}
