import { syntheticHex, syntheticUid } from './synthetic-mount-table.ts';

/** A pod of the busy node, as its kubelet, its runtime and its mount table know it. */
export interface BusyPod {
  readonly uid: string;
  readonly name: string;
  readonly sandboxId: string;
  readonly containers: readonly BusyContainer[];
  /** What became of the source of its first subPath. */
  readonly subpath: 'whole' | 'lost' | 'lost-and-refused';
}

export interface BusyContainer {
  readonly id: string;
  readonly name: string;
  readonly state: 'running' | 'exited';
  readonly exitCode: number;
}

export const NAMESPACE = 'shop';
export const APP = 'app';
export const PODS = 500;
export const CONTAINERS_PER_POD = 2;
export const MOUNTS_PER_POD = 10;
/** Few, as on a real node; each is a finding. */
export const LOST_SUBPATHS = 10;
const REFUSED_STARTS = 5;

/** Half of the containers have exited: init containers, and a few that cannot be started. */
export function busyPods(count = PODS): readonly BusyPod[] {
  return Array.from({ length: count }, (_, index) => {
    const isRefused = index < REFUSED_STARTS;
    const container = (name: string, state: BusyContainer['state'], exitCode: number) => ({
      id: syntheticHex(10_000 + index * 2 + (name === APP ? 0 : 1), 64),
      name,
      state,
      exitCode,
    });
    return {
      uid: syntheticUid(index),
      name: `web-${index}`,
      sandboxId: syntheticHex(20_000 + index, 64),
      containers: isRefused
        ? [container(APP, 'exited', 128), container('proxy', 'running', 0)]
        : [container(APP, 'running', 0), container('prepare', 'exited', 0)],
      subpath: isRefused ? 'lost-and-refused' : index < LOST_SUBPATHS ? 'lost' : 'whole',
    };
  });
}

export function subpathTarget(root: string, { uid }: BusyPod, index: number): string {
  return `${root}/pods/${uid}/volume-subpaths/settings/${APP}/${index}`;
}
