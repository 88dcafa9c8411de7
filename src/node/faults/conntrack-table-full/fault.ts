import { requireHostNetwork } from '../../evidence/kernel/host-network.ts';
import { type KernelNumber, kernelNumber } from '../../evidence/kernel/kernel-number.ts';
import { kernelLog } from '../../evidence/logs/kernel-log.ts';
import { unlessMissing } from '../../evidence/text/file-path.ts';
import { defineEvidence } from '../../model/evidence.ts';
import { type Absent, defineShortFault } from '../short-fault.ts';
import { signature } from '../signature.ts';
import { threshold } from '../threshold.ts';

const TABLE = '/proc/sys/net/netfilter/nf_conntrack';

const conntrackTable = defineEvidence<{ used: KernelNumber; limit: KernelNumber } | Absent>({
  id: 'conntrack-table',
  title: 'The connection tracking table of the node',
  collect: async (snapshot) => {
    await requireHostNetwork(snapshot);
    const used = await unlessMissing(kernelNumber(snapshot, `${TABLE}_count`, 'entries in use'));
    if (used) return { used, limit: await kernelNumber(snapshot, `${TABLE}_max`, 'the limit') };
    return { absent: 'nf_conntrack is not loaded', proof: [] };
  },
});

export const conntrackTableFull = defineShortFault({
  id: 'conntrack-table-full',
  title: 'The connection tracking table is full: new connections are dropped',
  severity: 'broken',
  isOfTheMoment: true,
  isOfTheNode: true,
  references: ['https://github.com/kubernetes/kubernetes/issues/71261'],
  affected: [
    { component: 'Linux', versions: 'all', behaviour: 'drops packets of new connections' },
  ],
  checks: [
    threshold({
      evidence: conntrackTable,
      measure: ({ used, limit }) => {
        // The kernel takes a limit of 0 for none.
        const max = limit.value || Number.POSITIVE_INFINITY;
        const proof = [used.proof, limit.proof];
        return [{ value: used.value, warnAt: max * 0.85, failAt: max, max, proof }];
      },
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
        summary: ({ absent }) => `The kernel tracks no connections: ${absent}.`,
      },
    }),
    signature({
      log: kernelLog,
      isSupplement: true,
      signature: {
        id: 'conntrack-table-full',
        log: 'kernel',
        literals: ['nf_conntrack: table full'],
        // nf_conntrack: nf_conntrack: table full, dropping packet; of a pod: table full in netns 4026532
        patterns: [/nf_conntrack: table full(?: in netns (?<namespace>\d+))?, dropping packet/],
      },
      except: ({ fields }) => fields.namespace !== undefined,
      withinMs: 10 * 60_000,
      recent: {
        reason: 'ConntrackDroppedPackets',
        means: 'The kernel dropped packets in the last ten minutes because the table was full.',
        summary: () =>
          'The table was full in the last ten minutes, and the kernel dropped packets.',
      },
    }),
  ],
  blastRadius: 'new connections of all pods and of the node fail at random; open ones go on',
  excluded: ["a pod's own table: the kernel names its namespace, and that line does not count"],
  steps: ({ max }) => [
    { text: 'risk: a larger table takes memory of the kernel, about 300 bytes for each entry' },
    {
      command: `sysctl ${max ? '--write ' : ''}net.netfilter.nf_conntrack_max${max ? `=${2 * max}` : ''}`,
    },
    {
      command:
        "conntrack -L 2>/dev/null | awk '{print $1, $4}' | sort | uniq --count | sort --numeric-sort",
    },
  ],
  prevention: ['set conntrack.maxPerCore and conntrack.min in the configuration of kube-proxy'],
});
