import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lab, tracesOf } from '../test/rig/lab-traces.ts';
import { EXECUTABLE, oneLine, runProgram, startProgram } from '../test/rig/run-kubediag.ts';

const NAME = `r${process.pid}`;
const STAND_IN = ['--runtime', 'stand-in'];
const SOON = { timeout: 20_000 };

describe('on a practice node', () => {
  beforeAll(async () => {
    await lab('up', NAME, ...STAND_IN);
  });

  afterAll(async () => {
    await lab('down', NAME);
  });

  /** `lab run` on a terminal of 33 lines and 77 columns. */
  function onTerminal(command: string) {
    const line = `stty rows 33 cols 77; exec ${EXECUTABLE} lab run --name ${NAME} -- ${command}`;
    return startProgram(['script', '--quiet', '--return', '--command', line, '/dev/null']);
  }

  async function processes() {
    return (await lab('run', NAME, '--', 'ps', '-A', '-o', 'args')).stdout;
  }

  test('a shell gets a terminal of the node, and lab run returns its exit code', async () => {
    const shell = onTerminal('env PS1=ready: sh');
    await shell.hasSaid('ready:');
    shell.child.stdin?.write('tty; stty size; exit 5\n');
    const { code, stdout } = await shell.end;
    expect(stdout).toMatch(/^\/dev\/pts\/\d+\r?\n33 77\r?$/m);
    expect(code).toBe(5);
  });

  test('a command on a terminal gets its arguments unchanged, and Ctrl-C', async () => {
    const args = `"it's" '$HOME "x"' ''`;
    const printed = onTerminal(`sh -c 'printf "<%s>" "$@"; exec sleep 3001' sh ${args}`);
    await printed.hasSaid(`<it's><$HOME "x"><>`);
    printed.child.stdin?.write('\x03');
    expect((await printed.end).code).toBe(130);
    expect(await processes()).not.toContain('sleep 3001');
  });

  test.each([
    ['SIGTERM', 143],
    ['SIGHUP', 129],
    ['SIGINT', 130],
  ] as const)('%s is for the command, which ends', async (signal, code) => {
    // In a separate session, so that no terminal sends the signal to both processes.
    const command = ['setsid', EXECUTABLE, 'lab', 'run', '--name', NAME, 'sleep', '3002'];
    const sleeper = startProgram(command);
    await expect.poll(processes, SOON).toContain('sleep 3002');
    sleeper.child.kill(signal);
    expect((await sleeper.end).code).toBe(code);
    expect(await processes()).not.toContain('sleep 3002');
  });

  test('a fault that needs new pods is refused at once if the kubelet starts none', async () => {
    expect((await lab('break', NAME, 'dead-volume-mount')).code).toBe(0);
    const second = await lab('break', NAME, 'stale-subpath-mount');
    expect(second.code).toBe(3);
    expect(oneLine(second.stderr)).toContain(
      'its kubelet starts no pod because of dead-volume-mount (nfs-active)',
    );
    expect(oneLine(second.stderr)).toContain(`heal it first: kubediag lab heal --name ${NAME}`);
    expect((await lab('heal', NAME)).code).toBe(0);
    expect((await lab('break', NAME, 'stale-subpath-mount')).code).toBe(0);
  });

  test('an agent is also reachable by an IPv6 address', async () => {
    const serve = [EXECUTABLE, 'lab', 'serve', '--name', NAME, '--listen', '[::1]:0'];
    const agent = startProgram(serve);
    await agent.hasSaid('Press Ctrl-C');
    const [url = ''] = /http:\/\/\[::1\]:\d+/.exec(agent.said()) ?? [];
    expect((await fetch(url)).status).toBe(401);
    agent.child.kill('SIGINT');
    expect((await agent.end).code).toBe(0);
  });

  test('two concurrent removals both report the end', async () => {
    const both = await Promise.all([lab('down', NAME), lab('down', NAME)]);
    expect(both.map(({ code }) => code)).toEqual([0, 0]);
    for (const { stdout } of both) expect(stdout).toMatch(/nothing of it is left|no practice node/);
    expect(tracesOf(NAME)).toEqual([]);
  });
});

test('--kubelet and --kubelet-version exclude each other', async () => {
  const args = ['--kubelet', '/bin/true', '--kubelet-version', 'v1.36.3'];
  const up = await runProgram([EXECUTABLE, 'lab', 'up', '--name', NAME, ...args]);
  expect(up.code).toBe(64);
  expect(up.stderr).toContain("cannot be used with option '--kubelet-version <VERSION>'");
});
