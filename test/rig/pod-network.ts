import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * A network for the pods of a containerd that is started in this directory next: each has a namespace of
 * its own, and in it nothing but its loopback.
 */
export function layPodNetwork(scratch: string): void {
  const cni = join(scratch, 'containerd/cni');
  for (const name of ['bin', 'conf']) mkdirSync(join(cni, name), { recursive: true });
  const network = { cniVersion: '0.4.0', name: 'alone', plugins: [{ type: 'alone' }] };
  writeFileSync(join(cni, 'conf/10-alone.conflist'), JSON.stringify(network));
  writePlugin(join(cni, 'bin/loopback'), 'nsenter --net=$CNI_NETNS ip link set lo up');
  writePlugin(join(cni, 'bin/alone'), ':');
}

/** What a plugin answers is believed: the address need not be there. */
function writePlugin(path: string, add: string): void {
  const interfaces = '[{"name":"\'$CNI_IFNAME\'","sandbox":"\'$CNI_NETNS\'"}]';
  const ips = '[{"version":"4","interface":0,"address":"10.88.0.2/16"}]';
  const script = `#!/bin/sh
    cat > /dev/null
    case $CNI_COMMAND in
      ADD) ${add}
        echo '{"cniVersion":"0.4.0","interfaces":${interfaces},"ips":${ips}}' ;;
      VERSION) echo '{"cniVersion":"0.4.0","supportedVersions":["0.3.1","0.4.0"]}' ;;
    esac
  `;
  writeFileSync(path, script);
  chmodSync(path, 0o755);
}
