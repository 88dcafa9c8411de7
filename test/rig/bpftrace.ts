import { join } from 'node:path';
import { type Missing, unpackedPackages } from '../../tools/debian-packages.ts';

/** The program, and the libraries of its compiler that a small machine may lack. */
const PACKAGES = [
  'bpftrace',
  'libbpf1',
  'libbpfcc',
  'libclang1-14',
  'libedit2',
  'libelf1',
  'libllvm14',
  'libz3-4',
];

export interface UnpackedBpftrace {
  /** The program as it lies in the cache. */
  readonly program: string;
  readonly environment: { readonly PATH: string; readonly LD_LIBRARY_PATH: string };
}

/** What a test that needs bpftrace asks first: is it to be had, and if not, why. */
export async function bpftracePackages(): Promise<UnpackedBpftrace | Missing> {
  const packages = await unpackedPackages(PACKAGES);
  if ('missing' in packages) return packages;
  return { program: join(packages.root, 'usr/bin/bpftrace'), environment: packages.environment };
}
