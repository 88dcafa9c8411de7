import { existsSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PLACES } from '../places.ts';

/**
 * Sysctls that the kubelet sets although the whole machine shares them. The node has files mounted
 * over them, with the values that the kubelet expects.
 */
export const KERNEL_SETTINGS: Readonly<Record<string, string>> = {
  'vm.overcommit_memory': '1',
  'vm.panic_on_oom': '0',
  'kernel.panic': '10',
  'kernel.panic_on_oops': '1',
  'kernel.keys.root_maxkeys': '1000000',
  'kernel.keys.root_maxbytes': '25000000',
};

/** kernel.panic is /proc/sys/kernel/panic. */
export function kernelSettingFile(name: string): string {
  return join('/proc/sys', name.replaceAll('.', '/'));
}

/** Writes a file for each of these sysctls that this kernel has. */
export async function writeKernelSettings(folder: string): Promise<void> {
  await mkdir(folder);
  for (const [name, value] of Object.entries(KERNEL_SETTINGS)) {
    if (existsSync(kernelSettingFile(name))) await writeFile(join(folder, name), `${value}\n`);
  }
}

/** The commands that bind-mount the files over the sysctls, in the current mount namespace. */
export async function coverKernelSettings(): Promise<readonly (readonly string[])[]> {
  const folder = join(PLACES.lab, 'kernel-settings');
  await writeKernelSettings(folder);
  const names = await readdir(folder);
  return names.map((name) => ['mount', '--bind', join(folder, name), kernelSettingFile(name)]);
}
