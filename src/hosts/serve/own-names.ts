import { hostname, networkInterfaces } from 'node:os';
import { isLoopback } from '../../lib/std/is-loopback.ts';

/** Names and addresses of a server that is bound to this address. */
export function ownNames(bound: string, nodeName: string): readonly string[] {
  if (isLoopback(bound)) return [];
  return [bound, nodeName, hostname(), ...addresses().map(({ address }) => address)];
}

/** Whether a name is one of a server that is bound to this address. */
export function isCalledBy(name: string, bound: string, nodeName: string): boolean {
  if (isLoopback(bound)) return isLoopback(name);
  const own = ['localhost', ...ownNames(bound, nodeName)];
  return own.some((each) => each.toLowerCase() === name.toLowerCase());
}

/** Names and addresses of this node, without those of the loopback, which every node has. */
export function namesOfNode(): readonly string[] {
  const outward = addresses().filter(({ internal }) => !internal);
  return [hostname(), ...outward.map(({ address }) => address)];
}

function addresses() {
  return Object.values(networkInterfaces()).flatMap((all) => all ?? []);
}
