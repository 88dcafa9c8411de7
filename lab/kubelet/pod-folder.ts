import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { textAt } from '../../src/lib/std/json.ts';
import { mountPoints } from '../mount-tables.ts';
import type { ContainerOptions } from '../practice-node.ts';
import { showsFiles, writeVolume } from './atomic-volume.ts';
import type { Behaviour } from './behaviour.ts';
import { mountInMemory, prepareSubpath, unmountBelow } from './mounts.ts';
import type { Pod, PodContainer, Volume } from './pod.ts';
import type { VolumeSources } from './read-objects.ts';
import { filesOf, placeOf } from './volume-files.ts';

/** The directory of a pod below the kubelet's root: its volumes and subPath mounts. */
export class PodFolder {
  readonly #folder: string;
  /** Created once and never touched again: a later mount over it may hang. */
  readonly #made = new Set<string>();

  constructor(kubeletRoot: string, podUid: string) {
    this.#folder = join(kubeletRoot, 'pods', podUid);
  }

  /** Creates the directories that every pod has, also without volumes. */
  make({ containers }: Pod): void {
    for (const name of ['volumes', 'plugins']) {
      mkdirSync(join(this.#folder, name), { recursive: true, mode: 0o750 });
    }
    for (const { name } of containers) {
      mkdirSync(join(this.#folder, 'containers', name), { recursive: true, mode: 0o750 });
    }
  }

  /** Creates each volume, and rewrites those whose object has changed. */
  async writeVolumes(pod: Pod, reported: VolumeSources): Promise<void> {
    for (const volume of pod.volumes) {
      const place = placeOf(volume);
      if (!place) continue;
      const folder = this.#volumeFolder(volume);
      if (!this.#made.has(volume.name)) {
        mkdirSync(folder, { recursive: true });
        if (place.isInMemory && !mountPoints().includes(folder)) await mountInMemory(folder);
        this.#made.add(volume.name);
      }
      const files = filesOf(volume, pod, reported);
      if (files && !showsFiles(folder, files)) writeVolume(folder, files);
    }
  }

  /** Prepares the mounts of a container that is about to start. */
  async mountsFor(
    pod: Pod,
    container: PodContainer,
    behaviour: Behaviour,
  ): Promise<NonNullable<ContainerOptions['mounts']>> {
    const mounts: { containerPath: string; hostPath: string }[] = [];
    for (const [index, { volume: name, path, subPath }] of container.mounts.entries()) {
      const volume = pod.volumes.find((each) => each.name === name);
      if (!volume)
        throw new Error(`container ${container.name} mounts no volume of its pod: ${name}`);
      const volumeFolder = this.#volumeFolder(volume);
      if (subPath === undefined) {
        mounts.push({ containerPath: path, hostPath: volumeFolder });
        continue;
      }
      const target = join(
        this.#folder,
        'volume-subpaths',
        volume.name,
        container.name,
        String(index),
      );
      const isCreated = volume.kind === 'emptyDir';
      await prepareSubpath({ volumeFolder, subPath, target, isCreated }, behaviour);
      mounts.push({ containerPath: path, hostPath: target });
    }
    return mounts;
  }

  /** Unmounts all volumes and removes the directory. The containers must be gone. */
  async tearDown(): Promise<void> {
    await unmountBelow(this.#folder);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #volumeFolder(volume: Volume): string {
    if (volume.kind === 'hostPath') return textAt(volume.source, 'path') ?? '/';
    const plugin = placeOf(volume)?.plugin ?? `kubernetes.io~${volume.kind.toLowerCase()}`;
    const folder = join(this.#folder, 'volumes', plugin, volume.name);
    return volume.kind === 'csi' ? join(folder, 'mount') : folder;
  }
}
