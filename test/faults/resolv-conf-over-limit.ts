import type { SyntheticNodes } from '../synthetic-node.ts';
import { type SyntheticWorker, syntheticWorker } from '../synthetic-worker.ts';

const worker = (servers: number, domains: number, more: SyntheticWorker = {}) =>
  syntheticWorker({ version: 'v1.36.3', flags: ['--cluster-domain=cluster.local'], ...more })
    .file('/proc/812/root/etc/resolv.conf', conf(servers, domains, 'example.com.'))
    .file('/proc/812/root/run/resolv.conf', conf(1, 20, 'x'.repeat(110)));

function conf(servers: number, domains: number, domain: string): string {
  const lines = Array.from({ length: servers }, (_, at) => `nameserver 10.0.0.${at + 1}\n`);
  const search = Array.from({ length: domains }, (_, at) => `d${at}.${domain}`);
  return `# comment\nsearch old\n${lines.join('')}search ${search.join(' ')}\n`;
}

export function nodes(): SyntheticNodes {
  return {
    healthy: worker(3, 29),
    'active-search-domains': worker(3, 30),
    'active-search-characters': worker(1, 1, { flags: ['--resolv-conf=/run/resolv.conf'] }),
    'active-old-kubelet': worker(1, 4, { version: 'v1.21.14' }),
    'latent-nameservers': worker(4, 1),
    'look-alike-at-the-old-limit': worker(3, 3, { version: 'v1.21.14' }),
    'look-alike-no-cluster-domain': worker(1, 32, { flags: ['--v=2'] }),
    'look-alike-no-file': worker(9, 9, { flags: ['--resolv-conf='] }),
    'unclear-feature-gate': worker(1, 10, { version: 'v1.24.0' }),
    'unclear-version': worker(1, 10, { version: null }),
    'unclear-withheld': worker(1, 1).file('/proc/812/root/etc/resolv.conf', '"<redacted>"'),
    'unclear-missing': worker(1, 1).missing('file', '/proc/812/root/etc/resolv.conf'),
  };
}
