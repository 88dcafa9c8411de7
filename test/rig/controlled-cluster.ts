import { listAt, textAt } from '../../src/lib/std/json.ts';
import { NAMESPACE } from '../../src/pipeline/api/cluster-names.ts';
import { API_VERSION } from '../../src/pipeline/api/kind-names.ts';
import { kubeStore } from '../../src/pipeline/kube/kube-store.ts';
import { Lease } from '../../src/pipeline/kube/lease.ts';
import { objectAt } from '../../src/pipeline/kube/objects.ts';
import type { StoredObject } from '../../src/pipeline/store/store.ts';
import type { ApiServer } from './api-server.ts';

/** Nodes, agents and pods as a controller sees them: objects on a real API server, and nothing behind them. */
export class ControlledCluster {
  readonly #api: ApiServer;

  constructor(api: ApiServer) {
    this.#api = api;
  }

  async node(name: string): Promise<void> {
    const body = { apiVersion: 'v1', kind: 'Node', metadata: { name } };
    await this.#api.client.request({ method: 'POST', path: '/api/v1/nodes', body });
  }

  async deleteNode(name: string): Promise<void> {
    await this.#api.client.request({ method: 'DELETE', path: `/api/v1/nodes/${name}` });
  }

  /** An agent that renews its Lease until it is stopped, without a word. */
  agent(nodeName: string, durationSeconds: number, namespace = NAMESPACE): () => void {
    const { client } = this.#api;
    const lease = new Lease(client, {
      namespace,
      name: nodeName,
      holder: nodeName,
      durationSeconds,
    });
    const renew = () => void lease.hold().catch(() => false);
    renew();
    const timer = setInterval(renew, durationSeconds * 250);
    return () => clearInterval(timer);
  }

  async pod(name: string): Promise<void> {
    await this.#api.client.request({
      method: 'POST',
      path: '/api/v1/namespaces/default/pods',
      body: {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name },
        spec: {
          containers: [{ name: 'main', image: 'none' }],
          automountServiceAccountToken: false,
        },
      },
    });
  }

  /** As the scheduler does it. */
  async bind(pod: string, nodeName: string): Promise<void> {
    await this.#api.client.request({
      method: 'POST',
      path: `/api/v1/namespaces/default/pods/${pod}/binding`,
      body: {
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: { name: pod },
        target: { apiVersion: 'v1', kind: 'Node', name: nodeName },
      },
    });
  }

  diagnosis(name: string, spec: object): Promise<StoredObject> {
    return kubeStore(this.#api.client).create({
      apiVersion: API_VERSION,
      kind: 'Diagnosis',
      metadata: { namespace: 'default', name },
      spec: { operationSet: 'set', ...spec },
    });
  }

  stored(name: string): Promise<StoredObject | undefined> {
    return kubeStore(this.#api.client).get({ kind: 'Diagnosis', namespace: 'default', name });
  }

  /** Writes what an agent would write. */
  async agentWrites(name: string, status: object): Promise<void> {
    const object = await this.stored(name);
    if (!object) throw new Error(`${name} is gone`);
    const merged = { ...object.status, ...status };
    await kubeStore(this.#api.client).updateStatus({ ...object, status: merged });
  }

  async change(name: string, spec: object): Promise<void> {
    const object = await this.stored(name);
    if (!object) throw new Error(`${name} is gone`);
    await kubeStore(this.#api.client).update({ ...object, spec: { ...object.spec, ...spec } });
  }

  /** "Failed AgentLost=True" */
  async reasonsOf(name: string): Promise<string> {
    const { status } = (await this.stored(name)) ?? {};
    const conditions = listAt(status, 'conditions') ?? [];
    const reasons = conditions.map((each) => `${textAt(each, 'reason')}=${textAt(each, 'status')}`);
    return [textAt(status, 'phase') ?? '-', ...reasons].join(' ');
  }

  /** The reasons of the Events about a Diagnosis. */
  async events(name: string): Promise<readonly (string | undefined)[]> {
    const path = '/apis/events.k8s.io/v1/namespaces/default/events';
    const items = listAt(await this.#api.client.request({ method: 'GET', path }), 'items') ?? [];
    return items
      .filter((each) => textAt(each, 'regarding', 'name') === name)
      .map((each) => textAt(each, 'reason'));
  }

  /** Who leads. */
  async leader(): Promise<string> {
    const path = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases/kubediag-controller`;
    const lease = await objectAt(this.#api.client, path);
    return textAt(lease, 'spec', 'holderIdentity') ?? '';
  }
}
