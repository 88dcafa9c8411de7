import type { RuntimeCommands } from '../practice-node.ts';
import type { KubeletVersion } from '../settings.ts';
import type { LogLine, Wording } from './wording.ts';

/** What the parts of the stand-in kubelet use. Behaviour and messages depend on its version. */
export interface KubeletContext {
  readonly kubeletRoot: string;
  readonly runtime: RuntimeCommands;
  readonly behaviour: Behaviour;
  readonly wording: Wording;
  readonly say: (line: LogLine) => void;
}

/** How the versions differ, as far as the faults need it. */
export interface Behaviour {
  /**
   * reused: an existing subPath mount is reused although its source is gone (kubernetes 68211, every
   * 1.18). compared: it is bound again if the source has changed (since 1.19).
   */
  readonly subpaths: 'reused' | 'compared';
  /** asks: by stat, which hangs on a dead server. table: from the mount table (since 1.30). */
  readonly mountCheck: 'asks' | 'table';
  /** Whether the directory "mount" of CSI volumes is searched by stat (since 1.19). */
  readonly looksIntoCsi: boolean;
  /** Whether empty volume directories of orphaned pods are removed (since 1.20.10). */
  readonly cleansLeftovers: boolean;
  /** path: exactly the log. pattern: the log path and a star (since 1.18.9), which may be relative. */
  readonly removesLogs: 'path' | 'pattern';
}

const V1_18_8: Behaviour = {
  subpaths: 'reused',
  mountCheck: 'asks',
  looksIntoCsi: false,
  cleansLeftovers: false,
  removesLogs: 'path',
};

export const BEHAVIOURS: Readonly<Record<KubeletVersion, Behaviour>> = {
  'v1.18.8': V1_18_8,
  'v1.18.20': { ...V1_18_8, removesLogs: 'pattern' },
  'v1.36.3': {
    subpaths: 'compared',
    mountCheck: 'table',
    looksIntoCsi: true,
    cleansLeftovers: true,
    removesLogs: 'pattern',
  },
};
