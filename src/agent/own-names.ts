import { hostname, networkInterfaces } from 'node:os';
import { isLoopback } from '../std/is-loopback.ts';

/** Names and addresses under which others may call a server that is bound to this one. */
export function ownNames(bound: string, nodeName: string): readonly string[] {
  if (isLoopback(bound)) return [];
  const addresses = Object.values(networkInterfaces()).flatMap((all) =>
    (all ?? []).map(({ address }) => address),
  );
  return [bound, nodeName, hostname(), ...addresses];
}
