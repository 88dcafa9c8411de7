import { checkName } from './known-labs.ts';
import type { MakeOptions } from './lab-options.ts';
import type { LabWish } from './make-lab.ts';
import { chooseRuntime } from './runtime/choose-runtime.ts';

/** What a lab is made with, of what a person asked for and the machine has. */
export async function settingsOf(options: MakeOptions): Promise<LabWish> {
  const { name, runtime, runtimeEndpoint: endpoint } = options;
  checkName(name);
  return {
    name,
    runtime: chooseRuntime({ kind: runtime, ...(endpoint === undefined ? {} : { endpoint }) }),
    kubelet: { kind: 'stand-in', version: options.kubeletVersion },
  };
}
