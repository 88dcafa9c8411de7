import { expect, it } from 'vitest';
import { CURRENT } from '../../tools/cluster/kubernetes-recipes.ts';
import { sharedCluster } from './shared-cluster.ts';

it('is the same for all, and every caller gets it complete and empty', async () => {
  const mine = await sharedCluster(CURRENT);
  const containers = [{ name: 'app', image: mine.image }];
  const pod = (name: string, namespace?: string) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace },
    spec: { containers },
  });
  await mine.apply(pod('one'), pod('two', 'default'));
  await mine.kubectl('wait', '--for=condition=Ready', 'pod/one', '--timeout=60s');
  expect(await mine.kubectl('get', 'pods', '-o=name')).toBe('pod/one\n');
  await mine.parts.kubelet.stop('SIGKILL');
  await mine.parts['kube-apiserver'].stop();

  const others = await sharedCluster(CURRENT);
  expect(others.pid).toBe(mine.pid);
  expect(others.namespace).not.toBe(mine.namespace);
  expect(await others.kubectl('get', 'pods', '-A', '-o=name')).toBe('');
  const phase = ['--ignore-not-found', '-o=jsonpath={.status.phase}'];
  expect(await others.kubectl('get', 'namespace', others.namespace, ...phase)).toBe('Active');
  expect(await others.kubectl('get', 'namespace', mine.namespace, ...phase)).not.toBe('Active');
});
