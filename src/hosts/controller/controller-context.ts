import type { KubeClient } from '../../pipeline/kube/kube-client.ts';
import type { Store } from '../../pipeline/store/store.ts';

/** What every part of the controller works with, for as long as this process leads. */
export interface ControllerContext {
  readonly client: KubeClient;
  readonly store: Store;
  /** The namespace of our own Leases. */
  readonly namespace: string;
  /** False from the moment at which another process may lead: no write begins then. */
  readonly isLeading: () => boolean;
  /** Another process leads from now on, or this one shuts down. */
  readonly stop: AbortSignal;
  readonly now: () => Date;
  /** Called with one line for each change and each error. */
  readonly onMessage: (message: string) => void;
}
