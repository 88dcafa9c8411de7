import type { NodeReader } from '../../src/node/model/node-reader.ts';
import { nodes as unloggedNodes } from '../../test/faults/container-without-log-path.ts';
import { nodes as deadMountNodes } from '../../test/faults/dead-volume-mount.ts';
import { nodes as notRunningNodes } from '../../test/faults/kubelet-not-running.ts';
import { nodes as leftoverNodes } from '../../test/faults/leftover-volume-directory.ts';
import { nodes as metadataNodes } from '../../test/faults/orphaned-volume-metadata.ts';
import { nodes as staleMountNodes } from '../../test/faults/stale-subpath-mount.ts';
import { makeFolder } from '../../test/synthetic-kubelet.ts';
import { NodeMaker, nodeNamed } from '../../test/synthetic-node.ts';
import { syntheticNodeWithVolumes } from '../../test/synthetic-volumes.ts';
import { DeniedNode } from './denied-node.ts';
import { LayeredNode } from './layered-node.ts';
import { SeenByInit } from './seen-by-init.ts';

/** A node that a screen is made of. */
export interface Scene {
  readonly name: string;
  /** The description in the list of screens. */
  readonly title: string;
  readonly node: () => NodeReader;
  /** How long the check took there. */
  readonly tookMs: number;
  /** Whether it was made by root, as a rule. */
  readonly isRoot?: false;
}

const HEALTHY: readonly NodeMaker[] = [
  deadMountNodes,
  leftoverNodes,
  metadataNodes,
  unloggedNodes,
  staleMountNodes,
  notRunningNodes,
].map((nodes) => nodeNamed('healthy', nodes()));

/** Whatever these nodes do not say is as on a healthy one. */
function otherwiseHealthy(...nodes: readonly NodeMaker[]): NodeReader {
  return new LayeredNode([...nodes, ...HEALTHY].map((maker) => maker.build()));
}

const PODS_WITH_LEFTOVERS = 42;

/** Failed teardowns have left directories in 42 pods, and of one that is gone its metadata. */
function manyFindings(): NodeReader {
  const uids = Array.from({ length: PODS_WITH_LEFTOVERS }, (_, at) => {
    const digits = String(at).padStart(2, '0');
    return `5d1f0e3f-9f0e-4c9c-a4d3-2d1f0e3f7a${digits}`;
  });
  const pods = uids.map((uid, at) => ({
    metadata: {
      name: `web-${at}`,
      namespace: 'shop',
      uid,
      annotations: { 'kubernetes.io/config.source': 'api' },
    },
    spec: { restartPolicy: 'Always', containers: [{ name: 'app' }] },
    status: { phase: 'Running' },
  }));
  const volumes = uids.map((podUid, at) => ({
    podUid,
    plugin: 'kubernetes.io~nfs',
    entries: { share: {}, [`share.deleting~${859_156_558 + at}`]: {} },
  }));
  const metadata = nodeNamed('active-kubelet-complains', metadataNodes());
  const listed = new NodeMaker();
  listed.clock = metadata.clock;
  const asked = { scheme: 'http', address: '127.0.0.1', port: 10255, path: '/pods' } as const;
  const body = JSON.stringify({ kind: 'PodList', apiVersion: 'v1', items: pods });
  listed.set('kubelet', asked, { answer: { status: 200, body } });
  return otherwiseHealthy(
    listed,
    metadata,
    syntheticNodeWithVolumes({ mounts: [], volumes, pods }),
  );
}

/** The kubelet has crashed; its directory and its program are there, and all that it mounted. */
function kubeletDead(): NodeReader {
  const maker = nodeNamed('active-crashed', notRunningNodes());
  makeFolder(maker, '', '/usr/bin/kubelet', { type: 'file' });
  const asked = { program: '/usr/bin/kubelet', arguments: ['--version'] };
  maker.set('version', asked, { answer: 'Kubernetes v1.34.1\n' });
  return new LayeredNode([maker.build(), new SeenByInit(otherwiseHealthy())]);
}

export const SCENES: readonly Scene[] = [
  { name: 'healthy', title: 'a healthy node', node: () => otherwiseHealthy(), tookMs: 412 },
  {
    name: 'one-finding',
    title: 'one finding',
    node: () => otherwiseHealthy(nodeNamed('broken-configmap', staleMountNodes())),
    tookMs: 431,
  },
  {
    name: 'many-findings',
    title: '43 findings of two faults',
    node: manyFindings,
    tookMs: 655,
  },
  {
    name: 'kubelet-dead',
    title: 'a node whose kubelet has ended',
    node: kubeletDead,
    tookMs: 398,
  },
  {
    name: 'not-root',
    title: 'a check by somebody who is not root, so that everything is unknown',
    node: () => new DeniedNode(otherwiseHealthy()),
    isRoot: false,
    tookMs: 203,
  },
  {
    name: 'hung-mount',
    title: 'a mount whose server does not answer, and which the kubelet waits for',
    node: () => otherwiseHealthy(nodeNamed('active-cephfs', deadMountNodes())),
    tookMs: 6_412,
  },
];

/** What the README shows: a finding that costs a node its /bin, with its proof. */
export const PICTURE: Scene = {
  name: 'check',
  title: 'a container without a log path',
  node: () => otherwiseHealthy(nodeNamed('active-collector', unloggedNodes())),
  tookMs: 417,
};
