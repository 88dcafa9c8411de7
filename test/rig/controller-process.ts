import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ApiServer } from './api-server.ts';
import { kubeconfigOf } from './controller-here.ts';
import { startProgram } from './run-kubediag.ts';

const MAIN = join(import.meta.dirname, '../../src/main.ts');
const LIMIT_MS = 280_000;

/** `kubediag controller` as a process of its own, whose clock can jump. */
export interface ControllerProcess {
  /** Its log. */
  readonly said: () => string;
  /** Moves its clock: "-1h" from now on, "+0" for the right time. */
  readonly setClock: (offset: string) => Promise<void>;
  /** Ends it, and removes its files. */
  readonly end: (signal: NodeJS.Signals) => Promise<void>;
}

export async function controllerProcess(api: ApiServer): Promise<ControllerProcess> {
  const folder = await mkdtemp(join(tmpdir(), 'kubediag-controller-'));
  const [kubeconfig, clock] = [join(folder, 'kubeconfig.json'), join(folder, 'clock')];
  const setClock = (offset: string) => writeFile(clock, offset);
  await Promise.all([writeFile(kubeconfig, kubeconfigOf(api)), setClock('+0')]);
  const { FAKETIME: _, ...library } = api.clock('+0');
  const environment = { ...library, FAKETIME_TIMESTAMP_FILE: clock, FAKETIME_NO_CACHE: '1' };
  const { child, said, hasSaid, end } = startProgram(
    [process.execPath, MAIN, 'controller', '--kubeconfig', kubeconfig, '--listen', '127.0.0.1:0'],
    { environment, limitMs: LIMIT_MS },
  );
  await hasSaid('controller ');
  return {
    said,
    setClock,
    end: async (signal) => {
      child.kill(signal);
      await end;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
