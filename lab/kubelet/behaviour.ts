import type { KubeletVersion } from '../settings.ts';

/** In what the versions differ, as far as the faults go. */
export interface Behaviour {
  /**
   * keeps: what is mounted at the place of a subPath is taken as it is, though its source is gone
   * (kubernetes 68211, every 1.18). looks: it is bound anew when the source is another (since 1.19).
   */
  readonly subpaths: 'keeps' | 'looks';
  /** asks: stat, which waits for a dead server. table: without asking it (since 1.30). */
  readonly mountCheck: 'asks' | 'table';
  /** Of CSI volumes the folder "mount" is looked for, by a stat in every version (since 1.19). */
  readonly looksIntoCsi: boolean;
  /** Whether empty folders that volumes of orphans have left are removed (since 1.20.10). */
  readonly cleansLeftovers: boolean;
  /** path: exactly the log. pattern: the log path and a star (since 1.18.9), which may be relative. */
  readonly removesLogs: 'path' | 'pattern';
}

export const BEHAVIOURS: Readonly<Record<KubeletVersion, Behaviour>> = {
  'v1.18.8': {
    subpaths: 'keeps',
    mountCheck: 'asks',
    looksIntoCsi: false,
    cleansLeftovers: false,
    removesLogs: 'path',
  },
  'v1.18.20': {
    subpaths: 'keeps',
    mountCheck: 'asks',
    looksIntoCsi: false,
    cleansLeftovers: false,
    removesLogs: 'pattern',
  },
  'v1.36.3': {
    subpaths: 'looks',
    mountCheck: 'table',
    looksIntoCsi: true,
    cleansLeftovers: true,
    removesLogs: 'pattern',
  },
};
