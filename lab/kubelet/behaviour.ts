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

/** The differences between versions that matter for the faults. */
export interface Behaviour {
  /**
   * reused: an existing subPath mount is reused although its source is gone (kubernetes 68211,
   * every 1.18). compared: it is bound again if the source has changed (since 1.19).
   */
  readonly subpaths: 'reused' | 'compared';
  /** asks: calls stat, which hangs on a dead server. table: reads the mount table (since 1.30). */
  readonly mountCheck: 'asks' | 'table';
  /** Whether it calls stat on the directory "mount" of CSI volumes (since 1.19). */
  readonly looksIntoCsi: boolean;
  /** Whether it removes empty volume directories of orphaned pods (since 1.20.10). */
  readonly cleansLeftovers: boolean;
  /** path: removes only the log. pattern: removes LOGPATH* (since 1.18.9), also a relative one. */
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
