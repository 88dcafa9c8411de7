import { mkdir, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { LEFTOVER_AGE_MS, LEFTOVER_PILE_MIN } from '../../src/node/evidence/limits.ts';
import { makeSubpathPod } from '../../test/cluster/sick-pod.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { MadeFault } from './published-faults.ts';

const POD = 'bench-live';
const PLUGIN = 'transwarp.io~tosdisk';
/** Another one: a finding that returns soon must be absent for longer. */
const OTHER_PLUGIN = 'example.com~disk';
/** Time for a check that sees the leftover before it is old enough. */
const YOUNG_MS = 20_000;
const RESOLV_CONF = '/etc/resolv.conf';

/** Faults that show in no table of the kernel, and of which the kubelet logs nothing. */
export function fileFaults(cluster: Cluster, nodeName: string): readonly MadeFault[] {
  const node = cluster.node(nodeName);
  const fault = 'leftover-volume-directory';
  let volumes = '';
  let oldAtMs = 0;
  const nameservers = (count: number) =>
    Array.from({ length: count }, (_, index) => `nameserver 192.0.2.${index + 1}\n`).join('');
  const resolvConf = join(cluster.scratch, 'resolv.conf');
  const clean = (plugin: string) => () => rm(join(volumes, plugin), { recursive: true });
  return [
    {
      ...{ fault, title: `${fault}, a pile`, nodeName, barSeconds: 5 },
      prepare: async () => {
        await makeSubpathPod(cluster, nodeName, POD);
        const uid = await cluster.kubectl('get', 'pod', POD, '-o=jsonpath={.metadata.uid}');
        volumes = node.outside(join(node.kubeletRoot, 'pods', uid, 'volumes'));
      },
      make: async () => {
        for (let index = 0; index < LEFTOVER_PILE_MIN; index += 1) {
          await mkdir(join(volumes, PLUGIN, `pvc-1.deleting~${index}`), { recursive: true });
        }
      },
      cure: clean(PLUGIN),
    },
    {
      ...{ fault, title: `${fault}, just old enough`, nodeName, barSeconds: 5 },
      prepare: async () => {
        const leftover = join(volumes, OTHER_PLUGIN, 'pvc-1.deleting~1');
        await mkdir(leftover, { recursive: true });
        oldAtMs = Date.now() + YOUNG_MS;
        const modified = new Date(oldAtMs - LEFTOVER_AGE_MS);
        await utimes(leftover, modified, modified);
      },
      make: () => sleep(oldAtMs - Date.now()),
      cure: clean(OTHER_PLUGIN),
    },
    {
      ...{ fault: 'resolv-conf-over-limit', nodeName, barSeconds: 5 },
      prepare: async () => {
        await writeFile(resolvConf, nameservers(1));
        // Only for this node: its mounts are private.
        await node.run(['mount', '--bind', resolvConf, RESOLV_CONF]);
      },
      make: () => writeFile(resolvConf, nameservers(4)),
      cure: () => writeFile(resolvConf, nameservers(1)),
    },
  ];
}
