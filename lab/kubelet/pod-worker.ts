import { messageOf } from '../../src/lib/std/message-of.ts';
import type { KubernetesObject, ListedContainer, ListedPod } from '../practice-node.ts';
import type { KubeletContext } from './behaviour.ts';
import { RETRY_MS, RUNS_WELL_MS } from './limits.ts';
import { hasLostSubpath } from './mounts.ts';
import { type Pod, type PodContainer, podWord } from './pod.ts';
import { PodFolder } from './pod-folder.ts';
import {
  backOffMs,
  backOffWord,
  isRestarted,
  listedPod,
  newestOf,
  podUidOf,
  type SeenContainer,
  type Waiting,
} from './pod-status.ts';
import type { VolumeSources } from './read-objects.ts';

/** The pods and containers of the runtime, listed once per iteration for all pods. */
export interface RuntimeObservation {
  readonly sandboxes: readonly ListedPod[];
  readonly containers: readonly ListedContainer[];
}

/** Syncs one pod with its object in every iteration: sandbox, volumes and containers. */
export class PodWorker {
  #pod: Pod;
  readonly #folder: PodFolder;
  readonly #since = new Date();
  readonly #containers = new Map<string, SeenContainer>();
  readonly #waiting = new Map<string, Waiting>();
  /** Delays the next attempt after a failure: a ConfigMap may be missing for a long time. */
  #retryAt = 0;
  /** Restarts of a container since it last ran for a long time. */
  readonly #restarts = new Map<string, number>();

  constructor(pod: Pod, kubeletRoot: string) {
    this.#pod = pod;
    this.#folder = new PodFolder(kubeletRoot, pod.uid);
  }

  get pod(): Pod {
    return this.#pod;
  }

  isOtherThan(pod: Pod): boolean {
    return JSON.stringify(pod.object) !== JSON.stringify(this.#pod.object);
  }

  /** As the kubelet's list shows it. */
  get listed(): KubernetesObject {
    const sight = { containers: this.#containers, waiting: this.#waiting, since: this.#since };
    return listedPod(this.#pod, sight);
  }

  async sync(
    pod: Pod,
    reported: VolumeSources,
    sight: RuntimeObservation,
    context: KubeletContext,
  ): Promise<void> {
    this.#pod = pod;
    if (Date.now() < this.#retryAt) return;
    try {
      this.#folder.make(pod);
      await this.#folder.writeVolumes(pod, reported);
      const podId = await this.#readySandbox(sight, context);
      for (const container of pod.containers) {
        const newest = newestOf(sight.containers, pod.uid, container.name);
        await this.#syncContainer(container, newest, podId, context);
      }
    } catch (error) {
      this.#retryAt = Date.now() + RETRY_MS;
      context.say(context.wording.syncFails(pod, messageOf(error)));
    }
  }

  /** The pod was deleted: removes its containers, then its directories. */
  async tearDown({ runtime, wording, say }: KubeletContext): Promise<boolean> {
    const { uid } = this.#pod;
    try {
      for (const each of await runtime.containers()) {
        if (podUidOf(each) !== uid) continue;
        if (each.state === 'running') await runtime.stopContainer(each.id);
        await runtime.removeContainer(each.id);
      }
      for (const each of await runtime.pods()) {
        if (each.uid === uid) await runtime.removePod(each.id);
      }
      await this.#folder.tearDown();
      return true;
    } catch (error) {
      say(wording.syncFails(this.#pod, messageOf(error)));
      return false;
    }
  }

  async #readySandbox(
    { sandboxes }: RuntimeObservation,
    { runtime }: KubeletContext,
  ): Promise<string> {
    const { uid, name, namespace } = this.#pod;
    const own = sandboxes.filter((each) => each.uid === uid);
    const ready = own.find(({ isReady }) => isReady);
    return ready?.id ?? runtime.runPod({ uid, name, namespace, attempt: own.length });
  }

  async #syncContainer(
    container: PodContainer,
    newest: ListedContainer | undefined,
    podId: string,
    context: KubeletContext,
  ): Promise<void> {
    const { name } = container;
    if (!newest) {
      await this.#start(container, 0, podId, context);
      return;
    }
    const { status } = await this.#snapshot(newest, context);
    if (status.state === 'created') {
      // The previous kubelet process was killed after it created the container.
      await this.#run(name, newest.id, context);
      return;
    }
    if (status.state !== 'exited') {
      this.#waiting.delete(name);
      return;
    }
    if (!isRestarted(this.#pod, status.exitCode)) return;
    const hasRunWell = status.finishedAt - status.startedAt > RUNS_WELL_MS && status.startedAt > 0;
    const restarts = hasRunWell ? 0 : (this.#restarts.get(name) ?? 0);
    const waitMs = backOffMs(restarts);
    if (Date.now() < status.finishedAt + waitMs) {
      const word = `back-off ${backOffWord(waitMs)} restarting failed container=${name}`;
      const message = `${word} pod=${podWord(this.#pod)}`;
      this.#waiting.set(name, { reason: 'CrashLoopBackOff', message });
      return;
    }
    this.#restarts.set(name, restarts + 1);
    await this.#start(container, newest.attempt + 1, podId, context);
  }

  /** Asks the runtime about a container only when its state has changed. */
  async #snapshot(listed: ListedContainer, { runtime }: KubeletContext): Promise<SeenContainer> {
    const before = this.#containers.get(listed.name);
    const isSame = before?.listed.id === listed.id && before.status.state === listed.state;
    const seen = isSame ? before : { listed, status: await runtime.status(listed.id) };
    this.#containers.set(listed.name, seen);
    return seen;
  }

  async #start(
    container: PodContainer,
    attempt: number,
    podId: string,
    context: KubeletContext,
  ): Promise<void> {
    const { name } = container;
    const mounts = await this.#folder.mountsFor(this.#pod, container, context.behaviour);
    const options = { name, attempt, mounts };
    const id = await context.runtime.createContainer(podId, this.#pod, options);
    await this.#run(name, id, context);
    // If a subPath is unmounted after our check, the container gets an empty mount point. A real
    // kubelet has this race too; here it is more likely, because each mount runs a program.
    if (hasLostSubpath(mounts)) await context.runtime.stopContainer(id);
  }

  async #run(name: string, id: string, { runtime, wording, say }: KubeletContext): Promise<void> {
    try {
      await runtime.startContainer(id);
      this.#waiting.delete(name);
    } catch (error) {
      const message = messageOf(error);
      this.#waiting.set(name, { reason: 'RunContainerError', message });
      say(wording.startFails(id, `rpc error: code = Unknown desc = ${message}`));
      const why = `failed to "StartContainer" for "${name}" with RunContainerError`;
      say(wording.syncFails(this.#pod, `${why}: ${JSON.stringify(message)}`));
    }
  }
}
