import { defined } from '../src/lib/std/defined.ts';
import { checkName } from './known-labs.ts';
import type { MakeOptions } from './lab-options.ts';
import type { LabCreateOptions } from './make-lab.ts';
import { chooseKubelet } from './real-kubelet/choose-kubelet.ts';
import { checkMachine, checkRights } from './requirements.ts';
import { chooseRuntime } from './runtime/choose-runtime.ts';

/** What a lab is made with, of what a person asked for and the machine has. */
export async function settingsOf(options: MakeOptions): Promise<LabCreateOptions> {
  const { name, kubelet, runtimeEndpoint: endpoint } = options;
  checkName(name);
  const what = `there is no practice node "${name}"`;
  checkMachine(what);
  checkRights(what);
  const wish = defined({ kind: options.runtime, endpoint });
  const runtime = chooseRuntime(wish);
  return {
    name,
    runtime,
    kubelet:
      kubelet === undefined
        ? { kind: 'stand-in', version: options.kubeletVersion }
        : await chooseKubelet(kubelet, runtime),
  };
}
