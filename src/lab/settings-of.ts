import { checkName } from './known-labs.ts';
import type { MakeOptions } from './lab-options.ts';
import type { LabWish } from './make-lab.ts';

/** What a lab is made with, of what a person asked for and the machine has. */
export async function settingsOf(options: MakeOptions): Promise<LabWish> {
  checkName(options.name);
  return {
    name: options.name,
    runtime: { kind: 'stand-in', why: 'asked for' },
    kubelet: { kind: 'stand-in', version: options.kubeletVersion },
  };
}
