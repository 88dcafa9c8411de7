import type { Terminal } from '../src/lib/terminal/terminal.ts';
import { type LabState, labNames, stateOf } from './known-labs.ts';
import { checkRoot } from './requirements.ts';
import { howToStart, stoppedParts, stoppedText } from './stopped-parts.ts';

export async function list(_options: object, terminal: Terminal): Promise<number> {
  checkRoot();
  const names = await labNames();
  if (names.length === 0) terminal.out('no practice nodes; create one: kubediag lab up\n');
  for (const name of names) terminal.out(`${name.padEnd(16)}${await text(await stateOf(name))}\n`);
  return 0;
}

async function text(state: LabState): Promise<string> {
  if (state.is !== 'up') {
    return state.is === 'begun'
      ? 'is being created, or its creation was interrupted'
      : 'is dead; remove what is left of it: kubediag lab down';
  }
  const { name, settings } = state.lab;
  const { runtime, kubelet } = settings;
  const kinds = `runtime: ${runtime.kind}; kubelet: ${kubelet.kind} ${kubelet.version}`;
  const stopped = await stoppedParts(state.lab);
  if (stopped.length === 0) return `is up; ${kinds}`;
  return `is up, but ${stoppedText(stopped)}; ${howToStart(stopped, name)}; ${kinds}`;
}
