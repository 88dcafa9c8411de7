import { AGENT_REPORTER } from '../../../pipeline/api/cluster-names.ts';
import { EventRecorder, type ObjectReference } from '../../../pipeline/kube/event-recorder.ts';
import type { KubeClient } from '../../../pipeline/kube/kube-client.ts';
import type { EventPod } from './fault-events.ts';
import { NodeObjects } from './node-objects.ts';
import { NodePublisher } from './node-publisher.ts';

interface NodeStatusOptions {
  readonly client: KubeClient;
  readonly nodeName: string;
  readonly onError: (message: string) => void;
  readonly stop: AbortSignal;
}

/** Publishes the checks of a node on its API server. */
export function publishNodeStatus({
  client,
  nodeName,
  ...options
}: NodeStatusOptions): NodePublisher {
  const recorder = new EventRecorder(client, {
    controller: AGENT_REPORTER,
    instance: nodeName,
  });
  return new NodePublisher({
    ...options,
    objects: new NodeObjects(client, nodeName),
    recordEvent: ({ pod, ...event }, nodeUid) => {
      const node = { apiVersion: 'v1', kind: 'Node', name: nodeName, uid: nodeUid };
      const regarding = pod ? podReference(pod) : node;
      return recorder.record({ ...event, regarding, ...(pod ? { related: node } : {}) });
    },
  });
}

function podReference({ namespace, name, uid }: EventPod): ObjectReference {
  return { apiVersion: 'v1', kind: 'Pod', namespace, name, ...(uid === undefined ? {} : { uid }) };
}
