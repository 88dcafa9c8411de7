import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { startDaemon } from '../src/lib/process/daemon.ts';
import { checkInside } from './inside.ts';
import { PART_MS, UNTIL_MS } from './limits.ts';
import { runCommand } from './namespaces.ts';
import { PLACES, READ_ONLY_PORT } from './places.ts';
import type { KubernetesObject, PracticeNode } from './practice-node.ts';
import { connectCommands } from './runtime/connect-commands.ts';
import type { KubeletChanges, LabSettings } from './settings.ts';
import { until } from './until.ts';

const ASK_MS = 5_000;
/** Characters of the log of a part that does not start. */
const LOG_CHARACTERS_MAX = 2_000;

/** This practice node. Throws anywhere else. */
export function openNode(): PracticeNode {
  const settings = checkInside();
  return {
    settings,
    runtime: connectCommands(PLACES.runtimeSocket, settings.name),
    put: (object) => {
      const { namespace, name } = object.metadata;
      writeAll(objectFile(object.kind, namespace, name), JSON.stringify(object, null, 2));
    },
    remove: (kind, namespace, name) => rmSync(objectFile(kind, namespace, name), { force: true }),
    pods: askForPods,
    configureKubelet: (args) => configureKubelet(settings, args),
    run: (...args) => runCommand(args),
    startPart,
    until: (what, isSo) => until(what, isSo, UNTIL_MS),
  };
}

function objectFile(kind: KubernetesObject['kind'], namespace: string, name: string): string {
  return join(PLACES.objects, `${kind.toLowerCase()}s`, namespace, `${name}.json`);
}

/** Atomic: a reader never sees an incomplete file. */
export function writeAll(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
}

async function askForPods(): Promise<readonly KubernetesObject[]> {
  const answer = await fetch(`http://127.0.0.1:${READ_ONLY_PORT}/pods`, {
    signal: AbortSignal.timeout(ASK_MS),
  });
  if (!answer.ok) throw new Error(`pods of the kubelet: HTTP status ${answer.status}`);
  return ((await answer.json()) as { items?: readonly KubernetesObject[] }).items ?? [];
}

function configureKubelet({ kubelet }: LabSettings, args: Partial<KubeletChanges>): void {
  if (kubelet.kind === 'real') throw new Error('cannot change the behaviour of a real kubelet');
  const now = JSON.parse(readFileSync(PLACES.kubeletWords, 'utf8')) as KubeletChanges;
  writeAll(PLACES.kubeletWords, JSON.stringify({ ...now, ...args }, null, 2));
}

async function startPart(part: string, ...args: readonly string[]): Promise<number> {
  const logFile = join(PLACES.lab, `${part}.log`);
  const start = await startDaemon({
    program: PLACES.executable,
    arguments: ['lab-part', part, ...args],
    logFile,
    deadlineMs: PART_MS,
    manner: 'says-ready',
  });
  if (start.started) return start.pid;
  const log = readFileSync(logFile, 'utf8').trim().slice(-LOG_CHARACTERS_MAX);
  throw new Error(`${part} did not start: ${start.why}${log && `: ${log}`}`);
}
