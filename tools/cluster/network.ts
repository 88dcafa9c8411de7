/**
 * Every cluster has a network of its own, so all of them have the same addresses. Nothing of it can
 * be reached from the machine, and nothing of the machine from it.
 */
export const NODE_ADDRESS = '10.97.0.1';
export const API_SERVER = `https://${NODE_ADDRESS}:6443`;
export const SERVICE_RANGE = '10.96.0.0/16';
/** The first of the range is always the API server's. */
export const SERVICE_ADDRESS = '10.96.0.1';
export const POD_RANGE = '10.98.0.0/24';

/**
 * Run once inside. A pair of connected interfaces is the one kind that every kernel can make up: one
 * end has the node's address, the other only brings it up.
 */
export const MAKE_NETWORK = `set -e
ip link set lo up
ip link add node0 type veth peer name beyond
ip address add ${NODE_ADDRESS}/24 dev node0
ip link set beyond up
ip link set node0 up
ip route add default dev node0
echo 1 >/proc/sys/net/ipv4/ip_forward`;

/** How containerd connects a pod: a bridge, and an address for each from the range. */
export const POD_NETWORK = {
  cniVersion: '0.4.0',
  name: 'pods',
  plugins: [
    {
      type: 'bridge',
      bridge: 'pods0',
      isGateway: true,
      ipMasq: true,
      hairpinMode: true,
      ipam: {
        type: 'host-local',
        ranges: [[{ subnet: POD_RANGE }]],
        routes: [{ dst: '0.0.0.0/0' }],
        dataDir: '/var/lib/cni/networks',
      },
    },
    { type: 'portmap', capabilities: { portMappings: true } },
  ],
};
