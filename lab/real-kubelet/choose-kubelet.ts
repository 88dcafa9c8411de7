import { resolve } from 'node:path';
import { runProgram } from '../../src/lib/process/run.ts';
import { Refusal } from '../refusal.ts';
import { isHiddenOnNodes } from '../runtime/choose-runtime.ts';
import type { KubeletChoice, RuntimeChoice } from '../settings.ts';
import { VERSION_BYTES_MAX, VERSION_MS } from './limits.ts';

const WHAT = 'the practice node cannot have this kubelet';
const NAME_ONE = 'name the program of a kubelet: --kubelet /usr/bin/kubelet';

/** The kubelet at this path. Throws a Refusal if a node with this runtime cannot run it. */
export async function chooseKubelet(path: string, runtime: RuntimeChoice): Promise<KubeletChoice> {
  const program = resolve(path);
  if (runtime.kind === 'stand-in') {
    throw new Refusal(
      WHAT,
      `a real kubelet asks more of a runtime than our stand-in knows, and the node has no other: ${runtime.why}`,
      'have containerd and runc installed and leave out --runtime stand-in, or leave out --kubelet',
    );
  }
  if (isHiddenOnNodes(program)) {
    const why = `${program} is where a practice node has a directory of its own, and cannot be seen there`;
    throw new Refusal(WHAT, why, 'copy it elsewhere, such as to /usr/local/bin, and name that');
  }
  return { kind: 'real', program, version: await versionOf(program) };
}

function whyNotStarted(
  program: string,
  { code, why }: { readonly code?: string; readonly why: string },
): string {
  if (code === 'ENOENT') return `there is no ${program}`;
  return code === 'EACCES'
    ? `${program} is no program, or may not be executed`
    : `${program} does not start: ${why}`;
}

// Kubernetes v1.18.8
const VERSION = /^Kubernetes (v1[.]\d+[.]\S+)/;

async function versionOf(program: string): Promise<string> {
  const result = await runProgram({
    program,
    arguments: ['--version'],
    deadlineMs: VERSION_MS,
    outputBytesMax: VERSION_BYTES_MAX,
  });
  if (result.ended === 'not-started') {
    throw new Refusal(WHAT, whyNotStarted(program, result), NAME_ONE);
  }
  const version = VERSION.exec(result.stdout)?.[1];
  if (version !== undefined) return version;
  const [said = ''] = (result.stdout || result.stderr).split('\n');
  const answer = said
    ? `answers --version with "${said.slice(0, 200)}"`
    : 'does not answer --version';
  throw new Refusal(
    WHAT,
    `${program} ${answer}, and a kubelet would say "Kubernetes v1..."`,
    NAME_ONE,
  );
}
