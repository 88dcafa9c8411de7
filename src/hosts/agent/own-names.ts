import { hostname, networkInterfaces } from 'node:os';
import { isLoopback } from '../../lib/std/is-loopback.ts';

/** Names and addresses under which others may call a server that is bound to this one. */
export function ownNames(bound: string, nodeName: string): readonly string[] {
  if (isLoopback(bound)) return [];
  return [bound, nodeName, hostname(), ...addresses().map(({ address }) => address)];
}

/** Whether a server that is bound to this address is the one that is called by that name. */
export function isCalledBy(name: string, bound: string, nodeName: string): boolean {
  if (isLoopback(bound)) return isLoopback(name);
  const own = ['localhost', ...ownNames(bound, nodeName)];
  return own.some((each) => each.toLowerCase() === name.toLowerCase());
}

/** By which others mean this node: what stands on the loopback may be every node's. */
export function namesOfNode(): readonly string[] {
  const outward = addresses().filter(({ internal }) => !internal);
  return [hostname(), ...outward.map(({ address }) => address)];
}

function addresses() {
  return Object.values(networkInterfaces()).flatMap((all) => all ?? []);
}
