import type { ControllerContext } from '../src/hosts/controller/controller-context.ts';
import { diagnosisDigest, leaseDigest, nodeDigest } from '../src/hosts/controller/digests.ts';
import { API_VERSION } from '../src/pipeline/api/kind-names.ts';
import { collectionAt } from '../src/pipeline/kube/collection.ts';
import { EventRecorder } from '../src/pipeline/kube/event-recorder.ts';
import { Informer } from '../src/pipeline/kube/informer.ts';
import { kubeStore } from '../src/pipeline/kube/kube-store.ts';
import { SyntheticApiServer } from './synthetic-api-server.ts';

const DIAGNOSES = `/apis/${API_VERSION}/namespaces/default/diagnoses`;
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kubediag/leases';

/** A controller that leads on a synthetic API server, without any part. */
export class SyntheticController {
  readonly api: SyntheticApiServer;
  readonly messages: string[] = [];
  readonly context: ControllerContext;
  readonly #stop = new AbortController();

  constructor(more: Partial<ControllerContext> = {}, api = new SyntheticApiServer()) {
    this.api = api;
    this.context = {
      client: api,
      store: kubeStore(api),
      namespace: 'kubediag',
      builtIns: [],
      events: new EventRecorder(api, { controller: 'test', instance: 'test' }),
      metrics: new Map(),
      queues: new Map(),
      diagnoses: new Informer({
        digest: (object, before) => diagnosisDigest(object, before),
        indexes: { parent: ({ parentUid }) => parentUid },
      }),
      nodes: new Informer({ digest: nodeDigest }),
      leases: new Informer({ digest: leaseDigest }),
      stop: this.#stop.signal,
      now: () => new Date(),
      onMessage: (message) => this.messages.push(message),
      enforcedMs: 0,
      ...more,
    };
  }

  /** Until all informers know what is there. */
  async start(): Promise<void> {
    const { diagnoses, nodes, leases } = this.context;
    const following = { stop: this.#stop.signal, onError: this.context.onMessage };
    const paths = [`/apis/${API_VERSION}/diagnoses`, '/api/v1/nodes', LEASES] as const;
    void diagnoses.run(collectionAt(this.api, paths[0]), following);
    void nodes.run(collectionAt(this.api, paths[1]), following);
    void leases.run(collectionAt(this.api, paths[2]), following);
    await Promise.all([diagnoses.synced, nodes.synced, leases.synced]);
  }

  stop(): void {
    this.#stop.abort();
  }

  node(name: string): void {
    this.api.put(`/api/v1/nodes/${name}`, { metadata: { name, uid: `uid-of-${name}` } });
  }

  /** Of the agent of a node; each call renews it. */
  lease(name: string, leaseDurationSeconds = 120): void {
    const spec = { holderIdentity: name, leaseDurationSeconds };
    this.api.put(`${LEASES}/${name}`, { metadata: { name, namespace: 'kubediag' }, spec });
  }

  diagnosis(name: string, spec: object, status?: object): void {
    this.api.put(`${DIAGNOSES}/${name}`, {
      apiVersion: API_VERSION,
      kind: 'Diagnosis',
      metadata: {
        name,
        namespace: 'default',
        uid: `uid-of-${name}`,
        generation: 1,
        creationTimestamp: '2026-01-02T03:04:05Z',
      },
      spec: { operationSet: 'set', ...spec },
      ...(status ? { status } : {}),
    });
  }

  /** As it is now. */
  stored(name: string) {
    return this.api.objects.get(`${DIAGNOSES}/${name}`) as
      | { readonly spec: Record<string, unknown>; readonly status?: Record<string, unknown> }
      | undefined;
  }

  change(name: string, by: { readonly spec?: object; readonly status?: object }): void {
    const object = this.stored(name);
    this.api.put(`${DIAGNOSES}/${name}`, {
      ...object,
      spec: { ...object?.spec, ...by.spec },
      status: { ...object?.status, ...by.status },
    });
  }
}
