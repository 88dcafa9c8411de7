import { API_VERSION, KIND_NAMES } from '../../../pipeline/api/kind-names.ts';
import type { ControllerContext } from '../controller-context.ts';
import { openQueue } from '../open-queue.ts';
import { sweep } from '../sweep.ts';
import { isExpired } from './decide-expired.ts';

/** Deletes ended Diagnoses after their spec.ttlSecondsAfterFinished. */
export async function expired(context: ControllerContext): Promise<void> {
  const { diagnoses, stop } = context;
  const queue = openQueue(context, 'expired', (key) => deleteExpired(key, context));
  await sweep(stop, () => {
    const nowMs = performance.now();
    for (const [key, digest] of diagnoses.entries()) if (isExpired(digest, nowMs)) queue.add(key);
  });
}

async function deleteExpired(
  key: string,
  { client, diagnoses, onMessage }: ControllerContext,
): Promise<undefined> {
  const digest = diagnoses.get(key);
  if (!digest || !isExpired(digest, performance.now())) return;
  const { namespace, name, uid, resourceVersion } = digest;
  // Only what we have seen: its TTL may have been extended since.
  const preconditions = { uid, resourceVersion };
  await client.request({
    method: 'DELETE',
    path: `/apis/${API_VERSION}/namespaces/${namespace}/${KIND_NAMES.Diagnosis.plural}/${name}`,
    body: {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      preconditions,
      propagationPolicy: 'Background',
    },
  });
  onMessage(`Diagnosis ${namespace}/${name}: deleted after its TTL`);
}
