import { startDaemon } from '../../process/daemon.ts';
import { runWords } from '../namespaces.ts';
import { writeWhole } from '../open-node.ts';
import { PLACES } from '../places.ts';
import { coverKernelSettings } from './kernel-settings.ts';
import { labKubelet } from './lab-kubelet.ts';
import { START_MS } from './limits.ts';

/**
 * Starts a real kubelet on the practice node on which we are, once the runtime and the `api` part run.
 * Its working folder is "/", as with systemd. It stays when we end.
 */
export async function startRealKubelet(
  name: string,
  { program, version }: { readonly program: string; readonly version: string },
): Promise<void> {
  for (const words of await coverKernelSettings()) await runWords(words);
  const { files, words } = labKubelet(name, version);
  for (const [path, content] of Object.entries(files)) {
    writeWhole(path, JSON.stringify(content, null, 2));
  }
  const started = await startDaemon({
    program,
    arguments: words,
    folder: '/',
    logFile: PLACES.kubeletLog,
    deadlineMs: START_MS,
    manner: 'silent',
  });
  if (!started.started) throw new Error(`${program} does not start: ${started.why}`);
}
