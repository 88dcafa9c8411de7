import { type ResolvConf, resolvConf, resolvConfRule } from '../../evidence/kubelet/resolv-conf.ts';
import type { Unknown } from '../../model/verdict.ts';
import { comparison, type Pair } from '../checks.ts';
import { defineShortFault } from '../short-fault.ts';

const NAMESERVERS_MAX = 3;

function searchLine(conf: ResolvConf): Pair | Unknown {
  const { path, origin, searches, limits, limitsOrigin } = conf;
  const text = ['search', ...searches].join(' ');
  const length = searches.join(' ').length;
  const over = limits.filter((one) => searches.length > one.domains || length > one.characters);
  if (over.length > 0 && over.length < limits.length) return { why: `${path}: ${conf.why}` };
  const allowed = limits
    .map((one) => `${one.domains} of ${one.characters} characters`)
    .join(' or ');
  return {
    is: { claim: `the file has ${searches.length} search domains`, text, origin },
    expected: { claim: `the kubelet passes on ${allowed}`, origin: limitsOrigin },
    agrees: over.length === 0,
    pins: { path, what: 'search' },
  };
}

function nameservers({ path, origin, nameservers: servers }: ResolvConf): Pair {
  const claim = `the file has ${servers.length} nameservers`;
  return {
    is: { claim, text: servers.join(' '), origin },
    expected: { claim: 'the kubelet passes on 3', origin: { source: 'kubelet' } },
    agrees: servers.length <= NAMESERVERS_MAX,
    pins: { path, what: 'nameserver' },
  };
}

export const resolvConfOverLimit = defineShortFault({
  id: 'resolv-conf-over-limit',
  title: 'The resolv.conf for pods has more than the kubelet passes on',
  severity: 'degraded',
  references: ['https://kubernetes.io/docs/concepts/services-networking/dns-pod-service/'],
  affected: [
    { component: 'kubelet', versions: 'all', behaviour: 'passes on 3 nameservers' },
    { component: 'kubelet', versions: 'up to 1.25', behaviour: '6 search domains, 256 characters' },
    { component: 'kubelet', versions: '1.26 and newer', behaviour: '32 domains, 2048 characters' },
  ],
  redactFile: resolvConfRule,
  checks: [
    comparison({
      evidence: resolvConf,
      compare: (conf) => [searchLine(conf)],
      differs: {
        reason: 'SearchDomainsDropped',
        means: 'The search line is longer than the kubelet allows: pods lack its last domains.',
        summary: ({ is }) => `Pods lack search domains of the node: ${is.claim}.`,
      },
    }),
    comparison({
      evidence: resolvConf,
      compare: (conf) => [nameservers(conf)],
      differs: {
        reason: 'NameserversDropped',
        means: 'The file has more than three nameservers; pods, and glibc, use the first three.',
        state: 'latent',
        summary: ({ is }) => `Pods get the first three nameservers only: ${is.claim}.`,
      },
    }),
  ],
  blastRadius: 'pods with dnsPolicy ClusterFirst or Default that are started from now on',
  excluded: ["the dnsConfig of a pod: only the node's own file is counted"],
  risk: 'a changed resolv.conf changes name resolution of the node, and of every pod from its next start on',
  steps: [
    {
      text: 'see which file it is: resolvConf in the configuration of the kubelet, or /etc/resolv.conf',
    },
  ],
});
