import { healthyObjects } from './healthy-pods.ts';
import { writeAll } from './open-node.ts';
import { PLACES, READ_ONLY_PORT } from './places.ts';
import type { KubernetesObject, PracticeNode } from './practice-node.ts';
import type { KubeletChanges } from './settings.ts';

/** Starts the runtime, the kubelet and the healthy pods. */
export async function setUp(node: PracticeNode): Promise<void> {
  await startRuntime(node);
  const objects = healthyObjects();
  for (const object of objects) node.put(object);
  await startKubelet(node);
  const names = objects.filter(({ kind }) => kind === 'Pod').map(({ metadata }) => metadata.name);
  await node.until(`all healthy pods run (${names.join(', ')})`, async () => {
    const pods = await node.pods().catch(() => []);
    return names.every((name) => pods.some((pod) => pod.metadata.name === name && runs(pod)));
  });
}

async function startRuntime({ settings, startPart }: PracticeNode): Promise<void> {
  if (settings.runtime.kind === 'stand-in') await startPart('runtime');
  else await (await import('./runtime/start-containerd.ts')).startContainerd(settings.runtime);
}

export async function startKubelet(node: PracticeNode): Promise<void> {
  const { startPart } = node;
  const { kubelet } = node.settings;
  if (kubelet.kind === 'real') {
    await startPart('api');
    await (await import('./real-kubelet/start-kubelet.ts')).startRealKubelet(node, kubelet);
    return;
  }
  const text: KubeletChanges = { version: kubelet.version, collects: true };
  writeAll(PLACES.kubeletWords, JSON.stringify(text, null, 2));
  await startPart(
    'kubelet',
    `--root-dir=${PLACES.kubeletRoot}`,
    `--container-runtime-endpoint=unix://${PLACES.runtimeSocket}`,
    `--read-only-port=${READ_ONLY_PORT}`,
    '--logtostderr=false',
    `--log-file=${PLACES.kubeletLog}`,
  );
}

/** Whether the kubelet reports every container as running. */
function runs({ status }: KubernetesObject): boolean {
  const { phase, containerStatuses = [] } = (status ?? {}) as {
    readonly phase?: string;
    readonly containerStatuses?: readonly { readonly state?: { readonly running?: object } }[];
  };
  return phase === 'Running' && containerStatuses.every(({ state }) => state?.running);
}
