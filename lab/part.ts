import { checkInside } from './inside.ts';

type Part = (args: readonly string[]) => Promise<void> | void;

/** The daemons of a practice node and its short commands; each is loaded when it is used. */
const PARTS: Readonly<Record<string, () => Promise<Part>>> = {
  'agent-entry': async () => (await import('./run-entry.ts')).runEntry,
  api: async () => (await import('./real-kubelet/run-api.ts')).runApi,
  inside: async () => (await import('./inside-commands.ts')).runInside,
  kubelet: async () => (await import('./kubelet/run-kubelet.ts')).runKubelet,
  runtime: async () => (await import('./runtime/run-runtime.ts')).runRuntime,
  'file-server': async () => (await import('./file-server.ts')).runFileServer,
};

export async function runPart([name = '', ...args]: readonly string[]): Promise<void> {
  checkInside();
  const load = PARTS[name];
  if (load === undefined) throw new Error(`no such part of a practice node: "${name}"`);
  await (await load())(args);
}
