import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type ServeStart, serve } from '../src/hosts/serve/serve.ts';
import type { Terminal } from '../src/lib/terminal/terminal.ts';

export interface SyntheticAgent extends ServeStart {
  readonly stateDir: string;
  /** What went wrong while it stood. */
  readonly errors: readonly string[];
  readonly stop: () => Promise<void>;
}

/** An agent in this process, on a directory of its own unless one is given. */
export async function syntheticAgent(given?: string): Promise<SyntheticAgent> {
  const scratch = given ?? mkdtempSync(join(tmpdir(), 'kubediag-agent-'));
  const stateDir = join(scratch, 'state');
  const ending = new AbortController();
  const errors: string[] = [];
  const { promise: started, resolve } = Promise.withResolvers<ServeStart>();
  const node = { access: { hostRoot: '/' }, settings: {}, stateFolder: stateDir };
  const ended = serve(
    { host: '127.0.0.1', port: 0, node, nodeName: 'my-node', repeatMs: 60_000 },
    ending.signal,
    {
      progress: () => {},
      detail: () => {},
      onSettled: () => {},
      onLetGo: async () => {},
      onStart: resolve,
      onError: (words) => errors.push(words),
    },
  );
  const stop = async () => {
    ending.abort();
    await ended;
  };
  onTestFinished(async () => {
    await stop();
    if (given === undefined) rmSync(scratch, { recursive: true, force: true });
  });
  const start = await Promise.race([started, ended]);
  if (!start || !('url' in start)) throw new Error(`the agent did not start: ${start?.why}`);
  return { ...start, stateDir, errors, stop };
}

export interface SyntheticTerminal extends Terminal {
  readonly said: () => { readonly out: string; readonly err: string };
}

/** A terminal without a user, which records its output. */
export function syntheticTerminal(): SyntheticTerminal {
  const [out, err]: [string[], string[]] = [[], []];
  return {
    out: (text) => void out.push(text),
    err: (text) => void err.push(text),
    width: 100,
    errWidth: 100,
    isInteractive: false,
    isOutTerminal: false,
    style: (_, text) => text,
    progress: () => {},
    hint: () => {},
    detail: () => {},
    ask: async () => '',
    confirm: async () => false,
    said: () => ({ out: out.splice(0).join(''), err: err.splice(0).join('') }),
  };
}
