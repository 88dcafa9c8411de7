import { lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** A step was to be sent where no processor is, and where a request of ours must not arrive. */
export class ForbiddenAddressError extends Error {
  override readonly name = 'ForbiddenAddressError';
}

/**
 * Addresses that only the machine itself can reach: there clouds hand out the credentials of a node
 * to every process on it. A manifest must not make us ask. The cluster guards other addresses.
 */
const FORBIDDEN = new BlockList();
for (const [address, bits] of [
  ['169.254.0.0', 16],
  ['100.100.100.200', 32], // Alibaba
  ['192.0.0.192', 32], // Oracle
  ['168.63.129.16', 32], // Azure
] as const) {
  FORBIDDEN.addSubnet(address, bits, 'ipv4');
  // The same behind a translator from IPv6 (NAT64, RFC 6052).
  FORBIDDEN.addSubnet(`64:ff9b::${address}`, 96 + bits, 'ipv6');
}
FORBIDDEN.addSubnet('fe80::', 10, 'ipv6');
// The same services over IPv6: two of AWS, then Google, Oracle and Scaleway.
for (const address of [
  'fd00:ec2::254',
  'fd00:ec2::23',
  'fd20:ce::254',
  'fd00:c1::a9fe:a9fe',
  'fd00:42::42',
]) {
  FORBIDDEN.addAddress(address, 'ipv6');
}

/** Throws when the host of this URL is written as such an address, in whichever way. */
export function refuseForbidden({ hostname }: URL): void {
  // [::ffff:a9fe:a9fe]
  const address = hostname.replace(/^\[|\]$/g, '');
  if (isForbidden(address)) throw new ForbiddenAddressError(wordsOf(address));
}

/** The usual lookup of a name, which fails when the name leads there. */
export const permittedLookup: LookupFunction = (hostname, options, done) => {
  lookup(hostname, options, (error, found, family) => {
    const addresses: readonly string[] = error
      ? []
      : typeof found === 'string'
        ? [found]
        : (found as readonly { readonly address: string }[]).map(({ address }) => address);
    const bad = addresses.find(isForbidden);
    done(bad === undefined ? error : new ForbiddenAddressError(wordsOf(bad)), found, family);
  });
};

function isForbidden(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && FORBIDDEN.check(address, family === 6 ? 'ipv6' : 'ipv4');
}

function wordsOf(address: string): string {
  const why =
    'is link-local or the metadata address of a cloud, which returns credentials of this machine';
  return `${address} ${why}: no step is sent there; name the server by another address`;
}
