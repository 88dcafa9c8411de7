import { attempt, defineEvidence, type Maybe } from '../../model/evidence.ts';
import { ReadError } from '../../model/node-reader.ts';
import type { Origin } from '../../model/origin.ts';
import { type FileRule, REDACTED } from '../../model/redaction.ts';
import { absolutePath } from '../text/file-path.ts';
import { isOlderThan } from '../text/version-number.ts';
import { type Kubelet, kubelet } from './kubelet.ts';
import { type KubeletVersion, kubeletVersion } from './kubelet-version.ts';

/** The resolv.conf that the kubelet gives to pods, as the kubelet parses it. */
export interface ResolvConf {
  /** The path in the kubelet's settings. */
  readonly path: string;
  readonly origin: Origin;
  readonly nameservers: readonly string[];
  readonly searches: readonly string[];
  /** The limits that the kubelet applies; two if we do not know which of them. */
  readonly limits: readonly SearchLimits[];
  readonly limitsOrigin: Origin;
  /** Why that is not known. */
  readonly why: string;
}

/** Limits of the search line, without the cluster domains. */
export interface SearchLimits {
  readonly domains: number;
  readonly characters: number;
}

const OLD: SearchLimits = { domains: 6, characters: 256 };
/** With the feature gate ExpandedDNSConfig: available since 1.22, enabled by default since 1.26. */
const EXPANDED: SearchLimits = { domains: 32, characters: 2048 };
/** Pods get these before those of the file: NAMESPACE.svc.DOMAIN, svc.DOMAIN, DOMAIN. */
const CLUSTER_DOMAINS = 3;

const DEFAULT = '/etc/resolv.conf';
/** k3s uses the first file with a nameserver that pods can reach. */
const OF_K3S = [DEFAULT, '/run/systemd/resolve/resolv.conf'];
// 127.0.0.53, ::1
const LOOPBACK = /^(?:127\.|::1$)/;
// "<redacted>", or [redacted for a text that is not YAML
const WITHHELD = new RegExp(`${REDACTED}|^\\[redacted$`);

export const resolvConf = defineEvidence<ResolvConf>({
  id: 'resolv-conf',
  title: 'The resolv.conf that pods get theirs from',
  collect: async (snapshot) => {
    const found = await snapshot.of(kubelet);
    const { process, unknowns } = found;
    if (!process) throw new ReadError('missing', 'the kubelet', 'it does not run');
    const [unread] = unknowns;
    if (found.resolvConf === undefined && unread !== undefined) {
      throw new ReadError('failed', "the kubelet's settings", unread);
    }
    const common = limitsOf(await attempt(snapshot.of(kubeletVersion)), found);
    for (const { path, view } of resolvConfPaths(found)) {
      const text = await snapshot.node.ask('file', { path: view });
      // A bundle withholds a file whose name does not show its content.
      if (WITHHELD.test(text)) throw new ReadError('malformed', view, 'the bundle withholds it');
      const parsed = parseResolvConf(text);
      const isUsed = parsed.nameservers.some((each) => !LOOPBACK.test(each));
      const origin = { file: view };
      const isGiven = found.program !== 'k3s' || found.resolvConf !== undefined;
      if (isGiven || isUsed) return { path, origin, ...parsed, ...common };
    }
    const origin = { source: "the kubelet's settings" };
    return { path: '', origin, nameservers: [], searches: [], ...common };
  },
});

function limitsOf(
  version: Maybe<KubeletVersion>,
  { hasClusterDomain, unknowns: [unread] }: Kubelet,
): Pick<ResolvConf, 'limits' | 'limitsOrigin' | 'why'> {
  const isBefore = (minor: number) =>
    version.known && isOlderThan(version.value, { major: 1, minor, patch: 0 });
  const possible = [
    ...(version.known && !isBefore(26) ? [] : [OLD]),
    ...(isBefore(22) ? [] : [EXPANDED]),
  ];
  // The file that could not be read may set the domain.
  const isUnread = hasClusterDomain === undefined && unread !== undefined;
  const less = isUnread ? [CLUSTER_DOMAINS, 0] : [hasClusterDomain ? CLUSTER_DOMAINS : 0];
  const why = version.known
    ? 'the limit depends on the feature gate ExpandedDNSConfig'
    : version.why;
  return {
    limits: possible.flatMap(({ domains, characters }) =>
      less.map((taken) => ({ domains: domains - taken, characters })),
    ),
    limitsOrigin: version.known ? version.value.origin : { source: 'kubelet' },
    why: isUnread ? unread : why,
  };
}

/** The files that the kubelet may use, as its settings and as we name them; none if it does not run. */
export function resolvConfPaths(
  found: Kubelet,
): readonly { readonly path: string; readonly view: string }[] {
  const { process } = found;
  if (!process) return [];
  return pathsFor(found).map((path) => ({
    path,
    view: `/proc/${process.pid}/root${absolutePath(path, process.workingFolder)}`,
  }));
}

function pathsFor({ program, resolvConf: given }: Kubelet): readonly string[] {
  if (given === '') return [];
  if (given !== undefined) return [given];
  return program === 'k3s' ? OF_K3S : [DEFAULT];
}

/** Nameservers add up; the last search line counts. A trailing dot of a domain is ignored. */
function parseResolvConf(text: string): Pick<ResolvConf, 'nameservers' | 'searches'> {
  const lines = text.split('\n').map((line) => line.trim().split(/\s+/));
  const nameservers = lines.flatMap(([key, server]) =>
    key === 'nameserver' && server !== undefined ? [server] : [],
  );
  const [, ...searches] = lines.findLast(([key]) => key === 'search') ?? [];
  return { nameservers, searches: searches.map((domain) => domain.replace(/\.$/, '')) };
}

/** The same file without addresses and names: as many servers, and domains of equal length. */
function redactResolvConf(text: string): string {
  const { nameservers, searches } = parseResolvConf(text);
  const servers = nameservers.map((server) => (LOOPBACK.test(server) ? server : '192.0.2.1'));
  const search = ['search', ...searches.map((domain) => 'x'.repeat(domain.length))].join(' ');
  return [...servers.map((server) => `nameserver ${server}`), search, ''].join('\n');
}

export const resolvConfRule: FileRule = {
  // /run/systemd/resolve/stub-resolv.conf, but not a kubelet configuration such as
  // /etc/kubelet.conf.d/10-resolv.conf
  path: /(?<!\.d)\/[^/]*resolv[^/]*$(?<!\.(?:ya?ml|json))/,
  redact: redactResolvConf,
};
