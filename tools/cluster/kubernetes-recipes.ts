/**
 * How a version of Kubernetes is built from the modules that every Go proxy serves. Whatever is
 * changed here makes another directory in the cache.
 */
export interface Recipe {
  readonly version: string;
  /** Below cmd/ of the module k8s.io/kubernetes. */
  readonly programs: readonly string[];
  /**
   * Kubernetes has the libraries of its own repository at "v0.0.0", and replaces each by a directory
   * that is not part of the module. They are published under this version too.
   */
  readonly libraries: string;
  /** The last Go that builds it; without one, the machine's. */
  readonly go?: string;
  /** Modules that are no longer published, and that nothing we build really uses. */
  readonly gone: readonly string[];
  /** What a cold build takes on two cores, downloads included. */
  readonly minutes: number;
}

export const CURRENT = 'v1.36.3';

/** The last minor version in which a container cannot restart on a subPath whose file was replaced. */
export const LAST_WITH_STALE_SUBPATH = 'v1.18.8';

/** The oldest API server that KubeDiag works with: without admission policies and selectable fields. */
export const OLDEST_API_SERVER = 'v1.29.15';

export const RECIPES: Readonly<Record<string, Recipe>> = {
  [CURRENT]: {
    version: CURRENT,
    programs: [
      'kube-apiserver',
      'kubelet',
      'kube-controller-manager',
      'kube-scheduler',
      'kubectl',
      'kube-proxy',
    ],
    libraries: 'v0.36.3',
    gone: [],
    minutes: 11,
  },
  [LAST_WITH_STALE_SUBPATH]: {
    version: LAST_WITH_STALE_SUBPATH,
    programs: ['kubelet'],
    libraries: 'v0.18.8',
    go: '1.13.15',
    // Only kubectl used it.
    gone: ['vbom.ml/util'],
    minutes: 4,
  },
  [OLDEST_API_SERVER]: {
    version: OLDEST_API_SERVER,
    // Newer ones do not work under it: a scheduler places no pod, a kubelet and a kube-proxy read no Service.
    programs: [
      'kube-apiserver',
      'kubelet',
      'kube-controller-manager',
      'kube-scheduler',
      'kube-proxy',
    ],
    libraries: 'v0.29.15',
    gone: [],
    minutes: 5,
  },
};

/** Those that build a program, whose version can therefore be chosen. */
export function recipesWith(program: string): readonly Recipe[] {
  return Object.values(RECIPES).filter(({ programs }) => programs.includes(program));
}
