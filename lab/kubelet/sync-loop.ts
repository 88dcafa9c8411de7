import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../src/lib/std/message-of.ts';
import type { KubernetesObject } from '../practice-node.ts';
import { someThreadWaits } from '../process-mark.ts';
import type { KubeletChanges, KubeletVersion } from '../settings.ts';
import { BEHAVIOURS, type KubeletContext } from './behaviour.ts';
import { HOUSEKEEPING_MS, LOOP_MS, RUNTIME_PAUSE_MS_MAX, SILENCE_MS } from './limits.ts';
import { type CleanedUp, cleanUpOrphans } from './orphans.ts';
import type { Pod } from './pod.ts';
import { PodWorker, type RuntimeObservation } from './pod-worker.ts';
import type { VolumeSources } from './read-objects.ts';
import { WORDINGS } from './wording.ts';

export interface SyncLoopOptions extends Pick<KubeletContext, 'kubeletRoot' | 'runtime' | 'say'> {
  /** Called in each iteration, like `objects`. */
  readonly words: () => KubeletChanges;
  readonly objects: () => VolumeSources;
  /** Called when an iteration begins with another version than the previous iteration. */
  readonly onVersion: (version: KubeletVersion) => void;
}

/**
 * The single loop in which a kubelet handles its pods. It also cleans up after deleted pods: if the
 * cleanup hangs on a dead mount, the kubelet no longer starts, changes or deletes any pod.
 */
export class SyncLoop {
  readonly #options: SyncLoopOptions;
  readonly #workers = new Map<string, PodWorker>();
  /** Pods that were deleted but are still on the node. */
  readonly #leaving = new Map<string, PodWorker>();
  #enteredAt: number | undefined;
  #hasTurned = false;
  #isCleaning = false;
  #version: KubeletVersion | undefined;
  #cleanedAt = 0;
  #cleanedUp: CleanedUp = { orphans: 0, failed: 0 };

  constructor(options: SyncLoopOptions) {
    this.#options = options;
  }

  /** The pods that the loop has read; not those that arrived while it hangs. */
  get pods(): readonly KubernetesObject[] {
    return [...this.#workers.values()].map(({ listed }) => listed);
  }

  get podUids(): ReadonlySet<string> {
    return new Set([...this.#workers.keys(), ...this.#leaving.keys()]);
  }

  get wanted(): readonly Pod[] {
    return [...this.#workers.values()].map(({ pod }) => pod);
  }

  /** Whether the first iteration is complete. */
  get hasTurned(): boolean {
    return this.#hasTurned;
  }

  get cleanedUp(): CleanedUp {
    return this.#cleanedUp;
  }

  /** The health check: a loop that was never entered is healthy. */
  get isWell(): boolean {
    return this.#enteredAt === undefined || Date.now() - this.#enteredAt <= SILENCE_MS;
  }

  /** Whether the cleanup hangs on a server now: the goroutine dump must show that. */
  get isHeldUp(): boolean {
    return this.#isCleaning && someThreadWaits(process.pid);
  }

  async run(): Promise<never> {
    let pauseMs = LOOP_MS;
    for (;;) {
      const failure = await this.#tryIteration();
      // Before the first complete iteration, the loop only waits for the runtime.
      if (failure !== undefined && this.#hasTurned) {
        const { say, wording } = this.context();
        say(wording.loopSkips(`[container runtime is down: ${failure}]`));
      }
      pauseMs = failure === undefined ? LOOP_MS : Math.min(2 * pauseMs, RUNTIME_PAUSE_MS_MAX);
      await sleep(pauseMs);
    }
  }

  /** Why it failed: the runtime does not list its pods, or an object cannot be read. */
  async #tryIteration(): Promise<string | undefined> {
    try {
      const { runtime } = this.#options;
      const sight = { sandboxes: await runtime.pods(), containers: await runtime.containers() };
      const { say, wording } = this.context();
      if (this.#enteredAt === undefined) say(wording.loopStarts());
      this.#enteredAt = Date.now();
      await this.#turn(sight);
      this.#hasTurned = true;
      this.#enteredAt = Date.now();
      return undefined;
    } catch (error) {
      this.#isCleaning = false;
      return messageOf(error);
    }
  }

  async #turn(sight: RuntimeObservation): Promise<void> {
    const reported = this.#options.objects();
    const context = this.context(this.#versionOfIteration());
    this.#hear(reported.pods, context);
    const syncs = reported.pods.map(async (pod) =>
      this.#workers.get(pod.uid)?.sync(pod, reported, sight, context),
    );
    await Promise.all(syncs);
    for (const [uid, worker] of this.#leaving) {
      if (await worker.tearDown(context)) this.#leaving.delete(uid);
    }
    if (Date.now() - this.#cleanedAt < HOUSEKEEPING_MS) return;
    this.#isCleaning = true;
    const running = sight.sandboxes.flatMap(({ uid, isReady }) => (isReady ? [uid] : []));
    const known = new Set([...this.podUids, ...running]);
    this.#cleanedUp = await cleanUpOrphans(known, context);
    this.#isCleaning = false;
    this.#cleanedAt = Date.now();
  }

  /** Adds new pods, and ends those that were deleted. */
  #hear(pods: readonly Pod[], { say, wording }: KubeletContext): void {
    const { kubeletRoot } = this.#options;
    const added = pods.filter(({ uid }) => !this.#workers.has(uid) && !this.#leaving.has(uid));
    for (const pod of added) this.#workers.set(pod.uid, new PodWorker(pod, kubeletRoot));
    if (added.length > 0) say(wording.podsChange('ADD', added));
    const changed = pods.filter((pod) => this.#workers.get(pod.uid)?.isOtherThan(pod));
    if (changed.length > 0) say(wording.podsChange('UPDATE', changed));
    const reported = new Set(pods.map(({ uid }) => uid));
    const gone = [...this.#workers.values()].filter(({ pod }) => !reported.has(pod.uid));
    for (const worker of gone) {
      this.#workers.delete(worker.pod.uid);
      this.#leaving.set(worker.pod.uid, worker);
    }
    const deleted = gone.map(({ pod }) => pod);
    if (deleted.length > 0) say(wording.podsChange('DELETE', deleted));
  }

  #versionOfIteration(): KubeletVersion {
    const { version } = this.#options.words();
    if (version !== this.#version) this.#options.onVersion(version);
    this.#version = version;
    return version;
  }

  /** The context for this version; by default for the version of the next iteration. */
  context(version = this.#options.words().version): KubeletContext {
    const { kubeletRoot, runtime, say } = this.#options;
    const [behaviour, wording] = [BEHAVIOURS[version], WORDINGS[version]];
    return { kubeletRoot, runtime, behaviour, wording, say };
  }
}
