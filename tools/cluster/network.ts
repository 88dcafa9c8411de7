/**
 * Every cluster has a network of its own, so all of them have the same addresses. Nothing of it can
 * be reached from the machine, and nothing of the machine from it.
 */
export const SERVICE_RANGE = '10.96.0.0/16';
/** The first of the range is always the API server's. */
export const SERVICE_ADDRESS = '10.96.0.1';
/** Each node has a part of it: see `podRange`. */
export const POD_RANGE = '10.98.0.0/16';
export const NODES_MAX = 50;

/** The address of a node. The control plane runs on the first one, whose index is 0. */
export function nodeAddress(index: number): string {
  return `10.97.0.${index + 1}`;
}

export const CONTROL_PLANE_ADDRESS = nodeAddress(0);
export const API_SERVER = `https://${CONTROL_PLANE_ADDRESS}:6443`;

function podRange(index: number): string {
  return `10.98.${index}.0/24`;
}

/** Run once in the namespace that connects the nodes. */
export const MAKE_SWITCH = `set -e
ip link add nodes type bridge
ip link set nodes up`;

/** Run there once for each node. A process of the node ($2) names the namespace of the node. */
export const CONNECT_NODE = `set -e
ip link add "port$1" type veth peer name node0 netns "$2"
ip link set "port$1" master nodes
ip link set "port$1" up`;

/** Run once on the node. The pods of every other node are reached through that node. */
export function nodeNetworkScript(index: number, nodeCount: number): string {
  const others = [...Array(nodeCount).keys()].filter((other) => other !== index);
  const routes = others.map((other) => `ip route add ${podRange(other)} via ${nodeAddress(other)}`);
  return `set -e
ip link set lo up
ip address add ${nodeAddress(index)}/24 dev node0
ip link set node0 up
ip route add default dev node0
${routes.join('\n')}
echo 1 >/proc/sys/net/ipv4/ip_forward`;
}

/** How containerd connects a pod: a bridge, and an address for each from the range of its node. */
export function podNetwork(index: number): object {
  return {
    cniVersion: '0.4.0',
    name: 'pods',
    plugins: [
      {
        type: 'bridge',
        bridge: 'pods0',
        isGateway: true,
        hairpinMode: true,
        ipam: {
          type: 'host-local',
          ranges: [[{ subnet: podRange(index) }]],
          routes: [{ dst: '0.0.0.0/0' }],
          dataDir: '/var/lib/cni/networks',
        },
      },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  };
}
