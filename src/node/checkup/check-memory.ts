import {
  type PrintedVersion,
  printedVersion,
  versionPrinted,
} from '../evidence/kubelet/kubelet-version.ts';
import { blockedThreads, seenWaits } from '../evidence/stacks/blocked-threads.ts';
import { attempt, type Snapshot, type SnapshotOptions } from '../model/evidence.ts';
import { RecordedNode } from '../recording/recorded-node.ts';
import type { Recording } from '../recording/recording.ts';
import { takeSnapshot } from './take-snapshot.ts';

/**
 * What a watch carries from one check to the next: in which calls it has seen threads of the kubelet
 * wait, and since when; and what the program of the kubelet printed, so that it runs only once. By a
 * clock that nobody sets and that stops while the machine sleeps.
 */
export class CheckMemory {
  readonly #firstSeenMs = new Map<string, number>();
  readonly #nowMs: () => number;
  #printed: PrintedVersion | undefined;

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /** These settings, with what was seen so far. */
  addedTo(settings: SnapshotOptions): SnapshotOptions {
    const waits = [...this.#firstSeenMs].map(([id, first]) => [id, this.#nowMs() - first] as const);
    return {
      ...settings,
      ...this.version(),
      ...(waits.length > 0 ? { [seenWaits.name]: Object.fromEntries(waits) } : {}),
    };
  }

  /** The setting that holds the version of the kubelet: also for others than the next check. */
  version(): SnapshotOptions {
    return this.#printed ? { [printedVersion.name]: this.#printed } : {};
  }

  /** Reads only the recording: what the check has not read, it has not seen. */
  async keep(recording: Recording, settings: SnapshotOptions): Promise<void> {
    const snapshot = takeSnapshot(new RecordedNode(recording), settings);
    await this.#keepWaits(snapshot);
    this.#printed = await versionPrinted(snapshot);
  }

  async #keepWaits(snapshot: Snapshot): Promise<void> {
    const seen = await attempt(snapshot.of(blockedThreads));
    // A check that could not read the threads does not end an earlier wait.
    if (!seen.known) return;
    const now = this.#nowMs();
    const ids = new Set(seen.value.threads.map(({ waitId }) => waitId));
    for (const id of this.#firstSeenMs.keys()) if (!ids.has(id)) this.#firstSeenMs.delete(id);
    for (const id of ids) if (!this.#firstSeenMs.has(id)) this.#firstSeenMs.set(id, now);
  }
}
