import { join } from 'node:path';
import { type Missing, unpackedPackages } from '../../tools/debian-packages.ts';

/** The program, and the library that a small machine may lack. */
const PACKAGES = ['tcpdump', 'libpcap0.8', 'libdbus-1-3'];

export interface UnpackedTcpdump {
  /** The program as it lies in the cache. */
  readonly program: string;
  readonly environment: { readonly PATH: string; readonly LD_LIBRARY_PATH: string };
}

/** What a test that needs tcpdump asks first: is it to be had, and if not, why. */
export async function tcpdumpPackages(): Promise<UnpackedTcpdump | Missing> {
  const packages = await unpackedPackages(PACKAGES);
  if ('missing' in packages) return packages;
  return { program: join(packages.root, 'usr/bin/tcpdump'), environment: packages.environment };
}
