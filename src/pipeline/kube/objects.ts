import { textAt } from '../../lib/std/json.ts';
import type { OwnerReference } from '../store/store.ts';
import { answerOf } from '../store/store-answer.ts';
import type { KubeClient } from './kube-client.ts';

/** The object at a path; undefined if it does not exist. */
export async function objectAt(
  client: KubeClient,
  path: string,
  timeoutMs?: number,
): Promise<unknown> {
  const answer = await answerOf(client.request({ method: 'GET', path, timeoutMs }));
  if (answer.ok) return answer.value;
  if (answer.error.reason === 'NotFound') return undefined;
  throw answer.error;
}

/**
 * Server-side apply: the manager owns the fields of the object from now on. Fields that it gave last
 * time and not now are removed.
 */
export function applyObject(
  client: KubeClient,
  path: string,
  object: object,
  fieldManager: string,
): Promise<unknown> {
  return client.request({
    method: 'PATCH',
    path,
    query: { fieldManager, force: 'true' },
    contentType: 'application/apply-patch+yaml',
    body: object,
  });
}

/** A Node as the owner of an object: Kubernetes deletes the object after it. */
export async function nodeAsOwner(client: KubeClient, name: string): Promise<OwnerReference> {
  const node = await client.request({ method: 'GET', path: `/api/v1/nodes/${name}` });
  return { apiVersion: 'v1', kind: 'Node', name, uid: textAt(node, 'metadata', 'uid') ?? '' };
}

/** A time with microseconds, as Leases and Events have it. */
export function microTime(time: Date): string {
  return time.toISOString().replace('Z', '000Z');
}
