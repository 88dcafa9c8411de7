import { cleanUpOnSignal } from '../src/lib/terminal/stop-on-signal.ts';
import type { Terminal } from '../src/lib/terminal/terminal.ts';
import { healthyObjects } from './healthy-pods.ts';
import { makeLab, settingsOf } from './make-lab.ts';
import { PRACTICE_NAMESPACE } from './practice-pod.ts';
import { type LabSettings, type MakeOptions, nameOption } from './settings.ts';

export async function up(
  options: MakeOptions,
  terminal: Terminal,
  stop = cleanUpOnSignal(),
): Promise<number> {
  const lab = await makeLab(await settingsOf(options), terminal.progress, stop);
  await lab.stay();
  terminal.progress('');
  terminal.out(greeting(lab.settings).join('\n'));
  return 0;
}

function greeting({ name, runtime, kubelet }: LabSettings): readonly string[] {
  const pods = healthyObjects().filter(({ kind }) => kind === 'Pod').length;
  const of = nameOption(name);
  return [
    `practice node ${name} is up: for practice only, this machine itself is not changed`,
    `  runtime   ${
      runtime.kind === 'containerd'
        ? `a real containerd (${runtime.containerd})`
        : `a stand-in (${runtime.why})`
    }`,
    `  kubelet   ${
      kubelet.kind === 'real'
        ? `a real one, ${kubelet.version} (${kubelet.program})`
        : `a stand-in that behaves as ${kubelet.version}`
    }`,
    `  pods      ${pods} healthy pods in the namespace ${PRACTICE_NAMESPACE}`,
    '',
    `  check it   kubediag lab run${of} -- kubediag check`,
    `  break it   kubediag lab break${of} stale-subpath-mount   (no fault: list all)`,
    `  heal it    kubediag lab heal${of}`,
    `  remove it  kubediag lab down${of}`,
    '',
  ];
}
