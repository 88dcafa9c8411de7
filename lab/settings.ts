/** What a lab was made with, as `lab.json` tells it on the node. */
export interface LabSettings {
  readonly name: string;
  /** "mnt:[4026532211]": whoever reads this file elsewhere is not on the practice node. */
  readonly mountNamespace: string;
  readonly runtime: RuntimeChoice;
  readonly kubelet: KubeletChoice;
}

/** containerd: a real one, from these programs of the machine. stand-in: ours, over the same wire. */
export type RuntimeChoice =
  | { readonly kind: 'containerd'; readonly containerd: string; readonly runc: string }
  | { readonly kind: 'stand-in'; readonly why: string };

/** stand-in: ours, in the wording of a version. real: a program of the machine. */
export type KubeletChoice =
  | { readonly kind: 'stand-in'; readonly version: KubeletVersion }
  | { readonly kind: 'real'; readonly program: string; readonly version: string };

/**
 * The versions whose wording and behaviour our kubelet knows. v1.18.20 has what else only an older or
 * only a newer one has, so that such faults can be had together.
 */
export const KUBELET_VERSIONS = ['v1.18.8', 'v1.18.20', 'v1.36.3'] as const;
export type KubeletVersion = (typeof KUBELET_VERSIONS)[number];

/** What our kubelet reads anew all the time, so that a break can change it. */
export interface KubeletChanges {
  readonly version: KubeletVersion;
  /** Whether it collects containers that have ended. */
  readonly collects: boolean;
}
