import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { KERNEL_SETTINGS, kernelSettingFile } from '../../lab/real-kubelet/kernel-settings.ts';

/** The sysctls of the machine that a kubelet would set, those that this kernel has. */
export async function machinesKernelSettings(): Promise<Readonly<Record<string, string>>> {
  const there = Object.keys(KERNEL_SETTINGS).filter((name) => existsSync(kernelSettingFile(name)));
  const pairs = there.map(
    async (name) => [name, await readFile(kernelSettingFile(name), 'utf8')] as const,
  );
  return Object.fromEntries(await Promise.all(pairs));
}
