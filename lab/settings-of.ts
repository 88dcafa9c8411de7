import { defined } from '../src/lib/std/defined.ts';
import { checkName } from './known-labs.ts';
import type { MakeOptions } from './lab-options.ts';
import type { LabCreateOptions } from './make-lab.ts';
import { chooseKubelet } from './real-kubelet/choose-kubelet.ts';
import { checkMachine, checkRights } from './requirements.ts';
import { chooseRuntime } from './runtime/choose-runtime.ts';

/** The settings of a lab, from the options and from what the machine has. */
export async function settingsOf(options: MakeOptions): Promise<LabCreateOptions> {
  const { name, kubelet, runtimeEndpoint: endpoint } = options;
  checkName(name);
  const what = `cannot create practice node "${name}"`;
  checkMachine(what);
  checkRights(what);
  const request = defined({ kind: options.runtime, endpoint });
  const runtime = chooseRuntime(request);
  return {
    name,
    runtime,
    kubelet:
      kubelet === undefined
        ? { kind: 'stand-in', version: options.kubeletVersion }
        : await chooseKubelet(kubelet, runtime),
  };
}
