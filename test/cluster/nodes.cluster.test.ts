import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { CURRENT, LAST_WITH_STALE_SUBPATH } from '../../tools/cluster/kubernetes-recipes.ts';
import { MIXED, NEW_NODE, OLD_NODE, type SharedCluster, sharedCluster } from './shared-cluster.ts';

const NODES = [NEW_NODE, OLD_NODE];

let cluster: SharedCluster;
/** The pod of the DaemonSet on each node. */
let pods: Readonly<Record<string, Pod>>;

interface Pod {
  readonly metadata: { readonly name: string; readonly uid: string };
  readonly spec: { readonly nodeName: string };
  readonly status: { readonly podIP: string };
}

beforeAll(async () => {
  cluster = await sharedCluster(MIXED);
  await cluster.apply(await daemonSet(cluster));
  await cluster.kubectl('rollout', 'status', 'daemonset/web', '--timeout=90s');
  const { items } = JSON.parse(await cluster.kubectl('get', 'pods', '-o=json')) as { items: Pod[] };
  pods = Object.fromEntries(items.map((pod) => [pod.spec.nodeName, pod]));
});

it('has a node of each version, and a DaemonSet runs on both', async () => {
  const columns = '{range .items[*]}{.metadata.name} {.status.nodeInfo.kubeletVersion}\n{end}';
  expect(await cluster.kubectl('get', 'nodes', `-o=jsonpath=${columns}`)).toBe(
    `${NEW_NODE} ${CURRENT}\n${OLD_NODE} ${LAST_WITH_STALE_SUBPATH}\n`,
  );
  expect(Object.keys(pods).toSorted()).toEqual(NODES);
});

describe.each(NODES)('a pod on %s', (name) => {
  const inPod = (...command: readonly string[]) =>
    cluster.kubectl('exec', podOn(name), '--', ...command);

  it('can be read, entered and reached through the API server', async () => {
    expect(await cluster.kubectl('logs', podOn(name))).toBe(`hello from ${name}\n`);
    expect(await inPod('hostname')).toBe(`${podOn(name)}\n`);
    const path = `/api/v1/namespaces/${cluster.namespace}/pods/${podOn(name)}:8080/proxy/`;
    expect(await cluster.kubectl('get', `--raw=${path}`)).toBe(`${name}\n`);
  });

  it('reaches the pods of every node, and sees their own addresses', async () => {
    for (const other of NODES) {
      const url = `http://${pods[other]?.status.podIP}:8080`;
      expect(await inPod('wget', '-q', '-O-', url)).toBe(`${other}\n`);
      expect(await inPod('wget', '-q', '-O-', `${url}/cgi-bin/caller`)).toBe(
        `::ffff:${pods[name]?.status.podIP}\n`,
      );
    }
  });

  it('reaches the API server at its service address, with a token of its pod and node', async () => {
    const whoAmI = await inPod('kubectl', 'auth', 'whoami', '-o=json');
    expect(JSON.parse(whoAmI)).toMatchObject({
      status: {
        userInfo: {
          username: `system:serviceaccount:${cluster.namespace}:default`,
          extra: {
            'authentication.kubernetes.io/node-name': [name],
            'authentication.kubernetes.io/pod-name': [podOn(name)],
            'authentication.kubernetes.io/pod-uid': [pods[name]?.metadata.uid],
          },
        },
      },
    });
  });

  it('sees what is mounted on its node after it started', async () => {
    const node = cluster.node(name);
    const folder = `/run/seen-by-${cluster.namespace}`;
    expect((await node.run(['mkdir', folder])).code).toBe(0);
    expect((await node.run(['mount', '-t', 'tmpfs', 'tmpfs', folder])).code).toBe(0);
    const table = (await inPod('cat', '/proc/mounts')).split('\n');
    expect(table.filter((line) => line.includes(` /host${folder} tmpfs `))).toHaveLength(1);
    expect((await node.run(['umount', folder])).code).toBe(0);
  });

  it('runs under a kubelet that may change its own Node only', async () => {
    const node = cluster.node(name);
    const environment = { KUBECONFIG: join(node.folder, 'kubelet.conf') };
    // Without reading it first, which a kubelet may not do with another Node either.
    const write = async (of: string) => {
      const input = await cluster.kubectl('get', 'node', of, '-o=json');
      const replace = ['kubectl', 'replace', `--raw=/api/v1/nodes/${of}/status`, '-f', '-'];
      return node.run(replace, { environment, input });
    };
    // The kubelet itself may have written in between.
    await expect.poll(() => write(name)).toMatchObject({ code: 0 });
    const [other = ''] = NODES.filter((one) => one !== name);
    expect(await write(other)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`is not allowed to modify node "${other}"`),
    });
  });
});

it('runs commands on the node that was chosen', async () => {
  for (const name of NODES) {
    const { stdout } = await cluster.node(name).run(['cat', '/proc/sys/kernel/hostname']);
    expect(stdout).toBe(`${name}\n`);
  }
  expect(() => cluster.node('no-node')).toThrow('has no node no-node');
});

it('lets the kubelet of a node be stopped and started again', async () => {
  const { kubelet } = cluster.node(OLD_NODE).parts;
  const logs = () => cluster.run(['kubectl', 'logs', podOn(OLD_NODE)]);
  await kubelet.stop('SIGKILL');
  expect(await logs()).not.toMatchObject({ code: 0 });
  await kubelet.start();
  await expect.poll(logs, { timeout: 90_000 }).toMatchObject({ code: 0 });
});

function podOn(node: string): string {
  return pods[node]?.metadata.name ?? '';
}

/** Serves the name of its node, and the address of the caller. */
async function daemonSet({ image, programs }: SharedCluster): Promise<object> {
  const kubectl = await realpath(join(programs, 'kubectl'));
  const script = `
    mkdir -p /www/cgi-bin
    echo "$NODE" >/www/index.html
    printf '#!/bin/sh\\necho; echo "$REMOTE_ADDR" | tr -d "[]"\\n' >/www/cgi-bin/caller
    chmod +x /www/cgi-bin/caller
    echo "hello from $NODE"
    exec httpd -f -p 8080 -h /www`;
  const labels = { app: 'web' };
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'web' },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          volumes: [
            { name: 'kubectl', hostPath: { path: kubectl, type: 'File' } },
            { name: 'host', hostPath: { path: '/' } },
          ],
          containers: [
            {
              name: 'app',
              image,
              command: ['sh', '-c', script],
              env: [{ name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }],
              volumeMounts: [
                { name: 'kubectl', mountPath: '/bin/kubectl', readOnly: true },
                { name: 'host', mountPath: '/host', mountPropagation: 'HostToContainer' },
              ],
            },
          ],
        },
      },
    },
  };
}
