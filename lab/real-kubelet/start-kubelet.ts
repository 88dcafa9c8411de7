import { readFileSync } from 'node:fs';
import { startDaemon } from '../../src/lib/process/daemon.ts';
import { runCommand } from '../namespaces.ts';
import { writeAll } from '../open-node.ts';
import { PLACES } from '../places.ts';
import type { PracticeNode } from '../practice-node.ts';
import { isRunning } from '../process-mark.ts';
import type { KubeletChoice } from '../settings.ts';
import { coverKernelSettings } from './kernel-settings.ts';
import { labKubelet } from './lab-kubelet.ts';
import { LAST_LINES_MAX, START_MS } from './limits.ts';

/**
 * Starts a real kubelet on this practice node, after the runtime and the `api` part, and returns
 * when it answers. Its working directory is "/", as with systemd. It outlives this process.
 */
export async function startRealKubelet(
  { settings, pods, until }: PracticeNode,
  { program, version }: Extract<KubeletChoice, { readonly kind: 'real' }>,
): Promise<void> {
  for (const words of await coverKernelSettings()) await runCommand(words);
  const { files, words } = labKubelet(settings.name, version);
  for (const [path, content] of Object.entries(files)) {
    writeAll(path, JSON.stringify(content, null, 2));
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
  await until(`${program} answers`, () => {
    if (!isRunning(started.pid)) throw new Error(`${program} ended: ${lastLines()}`);
    return pods().then(
      () => true,
      () => false,
    );
  });
}

/** Why it ended: "F1115 21:19:53.848101 238 server.go:274] failed to run Kubelet: ...". */
function lastLines(): string {
  const lines = readFileSync(PLACES.kubeletLog, 'utf8').trimEnd().split('\n');
  const complaints = lines.filter((line) => /^[EF]\d/.test(line));
  return (complaints.length > 0 ? complaints : lines).slice(-1).join('').slice(0, LAST_LINES_MAX);
}
