import { kernelUse, raiseSysctl, signature } from '../checks.ts';
import { defineShortFault } from '../short-fault.ts';

export const conntrackTableFull = defineShortFault({
  id: 'conntrack-table-full',
  title: 'The connection tracking table is full: new connections are dropped',
  severity: 'broken',
  references: ['https://github.com/kubernetes/kubernetes/issues/71261'],
  affected: [
    { component: 'Linux', versions: 'all', behaviour: 'drops packets of new connections' },
  ],
  checks: [
    kernelUse({
      id: 'conntrack-table',
      title: 'The connection tracking table of the node',
      namespace: 'net',
      used: { path: '/proc/sys/net/netfilter/nf_conntrack_count', claim: 'entries in use' },
      limit: { path: '/proc/sys/net/netfilter/nf_conntrack_max', claim: 'the limit' },
      unlimited: 0,
      warnAt: 0.85,
      fail: {
        reason: 'ConntrackTableFull',
        means: 'Every entry is in use: the kernel drops the packets of new connections.',
        summary: ({ value, max }) => `The connection tracking table is full: ${value} of ${max}.`,
      },
      warn: {
        reason: 'ConntrackTableNearlyFull',
        means: 'At least 85 % of the entries are in use.',
        summary: ({ value, max }) =>
          `The connection tracking table is nearly full: ${value} of ${max} entries are in use.`,
      },
      absent: {
        reason: 'ConntrackNotLoaded',
        means: 'The kernel tracks no connections, so there is no table.',
        summary: 'The kernel tracks no connections: nf_conntrack is not loaded.',
      },
    }),
    signature({
      id: 'conntrack-table-full',
      log: 'kernel',
      isSupplement: true,
      literals: ['nf_conntrack: table full'],
      example: 'nf_conntrack: nf_conntrack: table full, dropping packet',
      // In the example it is the table of the node; of a pod: table full in netns 4026532541
      patterns: [/nf_conntrack: table full(?: in netns (?<namespace>\d+))?, dropping packet/],
      except: ({ fields }) => fields.namespace !== undefined,
      withinMs: 10 * 60_000,
      recent: {
        reason: 'ConntrackDroppedPackets',
        means: 'The kernel dropped packets in the last ten minutes because the table was full.',
        summary: 'The table was full in the last ten minutes, and the kernel dropped packets.',
      },
    }),
  ],
  blastRadius: 'new connections of all pods and of the node fail at random; open ones go on',
  excluded: ["a pod's own table: the kernel names its namespace, and that line does not count"],
  risk: 'a larger table takes memory of the kernel, about 300 bytes for each entry',
  steps: ({ max }) => [
    raiseSysctl('net.netfilter.nf_conntrack_max', max),
    {
      command:
        "conntrack -L 2>/dev/null | awk '{print $1, $4}' | sort | uniq --count | sort --numeric-sort",
    },
  ],
  prevention: ['set conntrack.maxPerCore and conntrack.min in the configuration of kube-proxy'],
});
