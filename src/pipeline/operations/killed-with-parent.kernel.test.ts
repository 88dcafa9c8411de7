import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';

const here = (file: string) => JSON.stringify(join(import.meta.dirname, file));

/** An agent that runs one step, which never ends by itself and writes its pid to a file. */
const AGENT = `
  import { runScript } from ${here('run-script.ts')};
  import { runFunction } from ${here('run-function.ts')};
  const [way, file] = process.argv.slice(-2);
  const stop = new AbortController().signal;
  const rest = { name: 'one', input: {}, timeoutMs: 600_000, stop };
  const script = 'trap "" TERM; sleep 600 & echo $$ > "' + file + '"; wait; sleep 600';
  const code = [
    'import os, signal, time',
    'def handler(context):',
    '    signal.signal(signal.SIGTERM, signal.SIG_IGN)',
    '    os.fork()',
    '    open("' + file + '", "w").write(str(os.getpgid(0)))',
    '    time.sleep(600)',
  ].join('\\n');
  const codeSource = { 'function.py': code };
  await (way === 'script'
    ? runScript({ script: { way, script, argKeys: [] }, ...rest })
    : runFunction({ function: { way, runtime: 'Python3', codeSource }, ...rest }));
`;

// 812 (sh) S 1 812 812 0 ...
function statOf(pid: string): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
  } catch {
    return []; // It has ended since it was listed.
  }
}

/** The pids of a process group, without those that are dead and only not yet buried. */
function membersOf(group: string): readonly string[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => {
    const [state = '', , of] = statOf(pid);
    return of === group && !/[ZX]/.test(state);
  });
}

async function becomes(holds: () => boolean): Promise<boolean> {
  for (let tries = 0; tries < 400 && !holds(); tries += 1) await sleep(25);
  return holds();
}

test.each(['script', 'function'])('a %s does not outlive an agent that is killed', async (way) => {
  const folder = mkdtempSync(join(tmpdir(), 'kubediag-killed-'));
  const [file, scratch] = [join(folder, 'pid'), join(folder, 'tmp')];
  mkdirSync(scratch);
  const text = ['--no-warnings', '--input-type=module', '-e', AGENT, way, file];
  const agent = spawn(process.execPath, text, {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, TMPDIR: scratch },
  });
  const group = () => (existsSync(file) ? readFileSync(file, 'utf8').trim() : '');
  onTestFinished(() => {
    agent.kill('SIGKILL');
    if (group() !== '') for (const pid of membersOf(group())) process.kill(Number(pid), 'SIGKILL');
    rmSync(folder, { recursive: true });
  });
  expect(await becomes(() => group() !== '' && membersOf(group()).length === 2)).toBe(true);
  agent.kill('SIGKILL');
  expect(await becomes(() => membersOf(group()).length === 0)).toBe(true);
  expect(await becomes(() => readdirSync(scratch).length === 0)).toBe(true);
});
