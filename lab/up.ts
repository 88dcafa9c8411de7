import type { Terminal } from '../src/lib/terminal/terminal.ts';
import { healthyObjects } from './healthy-pods.ts';
import type { MakeOptions } from './lab-options.ts';
import { makeLab } from './make-lab.ts';
import { PRACTICE_NAMESPACE } from './practice-pod.ts';
import type { LabSettings } from './settings.ts';
import { settingsOf } from './settings-of.ts';

/** `kubediag lab up`: makes a practice node that stays until it is taken down. */
export async function up(
  options: MakeOptions,
  terminal: Terminal,
  stop: AbortSignal,
): Promise<number> {
  const lab = await makeLab(await settingsOf(options), terminal.progress, stop);
  await lab.stay();
  terminal.progress('');
  terminal.out(greeting(lab.settings).join('\n'));
  return 0;
}

function greeting({ name, runtime, kubelet }: LabSettings): readonly string[] {
  const pods = healthyObjects().filter(({ kind }) => kind === 'Pod').length;
  const of = name === 'practice' ? '' : ` --name ${name}`;
  return [
    `practice node ${name} is up: for practice only, nothing of this machine is touched`,
    `  runtime   ${
      runtime.kind === 'containerd'
        ? `a real containerd (${runtime.containerd})`
        : `a stand-in of ours (${runtime.why})`
    }`,
    `  kubelet   ${
      kubelet.kind === 'real'
        ? `a real one, ${kubelet.version} (${kubelet.program})`
        : `a stand-in of ours that behaves as ${kubelet.version}`
    }`,
    `  pods      ${pods} healthy ones, in the namespace ${PRACTICE_NAMESPACE}`,
    '',
    `  check it   kubediag lab run${of} -- kubediag check`,
    `  break it   kubediag lab break${of} stale-subpath-mount   (alone: lists all)`,
    `  heal it    kubediag lab heal${of}`,
    `  end it     kubediag lab down${of}`,
    '',
  ];
}
