import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { faults } from '../src/node/faults/index.ts';
import { lab, machineNow, tracesOf } from '../test/rig/lab-traces.ts';
import {
  type Ended,
  EXECUTABLE,
  oneLine,
  reportOf,
  runProgram,
  startProgram,
} from '../test/rig/run-kubediag.ts';
import { stateOf } from './known-labs.ts';
import { childOf, isRunning, killIfThere } from './process-mark.ts';

const NAME = `t${process.pid}`;
const OTHER = `${NAME}-b`;
const STAND_IN = ['--runtime', 'stand-in'];
/** A timeout for a busy machine; a test usually ends earlier. */
const SOON = { timeout: 20_000 };

async function standing(name: string) {
  const state = await stateOf(name);
  if (state.is !== 'up') throw new Error(`${name} is ${state.is}`);
  return state.lab;
}

function on(name: string, script: string) {
  return lab('run', name, '--', 'sh', '-c', script);
}

describe('a practice node', () => {
  const before = machineNow();

  let up: Ended;

  beforeAll(async () => {
    up = await lab('up', NAME, ...STAND_IN);
  });

  afterAll(async () => {
    await lab('down', NAME);
  });

  test('is healthy, and its mounts and processes are not visible on the machine', async () => {
    expect(up).toMatchObject({ code: 0, stderr: '' });
    expect(up.stdout).toContain(`practice node ${NAME} is up: for practice only`);
    expect(up.stdout).toContain('a stand-in (it was asked for)');
    expect(machineNow()).toEqual(before);
    const check = await on(NAME, 'kubediag check -o json');
    expect(check.code).toBe(0);
    expect(reportOf(check).faults.map(({ verdict }) => verdict)).toEqual(faults.map(() => 'clear'));
  });

  test('passes on standard input, output and the exit code of a command', async () => {
    const echo = startProgram([EXECUTABLE, 'lab', 'run', '--name', NAME, '--', 'cat']);
    echo.child.stdin?.end('input\n');
    expect(await echo.end).toMatchObject({ code: 0, stdout: 'input\n' });
    expect(await on(NAME, 'echo $((6 * 7)); exit 7')).toMatchObject({ code: 7, stdout: '42\n' });
    expect((await on(NAME, 'kill -9 $$')).code).toBe(128 + 9);
    expect((await on(NAME, 'hostname')).stdout).toBe(`${NAME}\n`);
  });

  test('does not affect the machine', async () => {
    const actions = [
      'rm -rf /usr/share/perl5 /usr/share/zoneinfo /etc 2>/dev/null',
      'rm -f /dev/zero; echo x >/var/of-the-node; echo x >/of-the-node',
      'echo broken >/usr/local/bin/kubediag',
      'rm -rf /sys/fs/cgroup/*',
      'echo 2 >/proc/sys/vm/overcommit_memory; echo 7 >/proc/sys/kernel/panic',
      'mkdir /var/lib/of-the-node; mount -t tmpfs none /mnt',
      'ls /usr/share/zoneinfo /of-the-node',
    ];
    const { stdout, stderr } = await on(NAME, actions.join('\n'));
    expect(stdout).toContain('/of-the-node');
    expect(stderr).toContain("cannot access '/usr/share/zoneinfo'");
    expect(stderr).toMatch(/overcommit_memory: Read-only file system/);
    expect(machineNow()).toEqual(before);
    expect((await runProgram([EXECUTABLE, 'version'])).code).toBe(0);
  });

  test('has its initial state after heal', async () => {
    const pods = 'ls /var/lib/kubelet/pods | sort';
    const { stdout: healthy } = await on(NAME, pods);
    await on(NAME, 'rm /bin; mkdir /var/lib/kubelet/pods/x; setsid sleep 1000 >/dev/null 2>&1 &');
    await on(NAME, 'mount -t tmpfs none /var/lib/kubelet/pods/x; mkdir /run/x');
    expect(await lab('heal', NAME)).toMatchObject({ code: 0, stderr: '' });
    expect((await on(NAME, `readlink /bin; ls -d /run/x; ${pods}`)).stdout).toBe(
      `${readlinkSync('/bin')}\n${healthy}`,
    );
    expect((await on(NAME, 'ps ax')).stdout).not.toContain('sleep 1000');
    expect((await on(NAME, 'cat /proc/self/mounts')).stdout).not.toContain('/pods/x');
  });

  test('has a unique name, and shares nothing with a second node', async () => {
    const taken = await lab('up', NAME, ...STAND_IN);
    expect(taken.code).toBe(3);
    expect(taken.stderr).toContain(`practice node "${NAME}" already exists`);
    expect(await lab('up', OTHER, ...STAND_IN)).toMatchObject({ code: 0, stderr: '' });
    const listed = await runProgram([EXECUTABLE, 'lab', 'list']);
    expect(listed.stdout).toContain(`${NAME} `);
    expect(listed.stdout).toContain(OTHER);
    await on(OTHER, 'touch /run/only-here');
    expect((await on(NAME, 'ls /run/only-here')).code).not.toBe(0);
    expect((await lab('down', OTHER)).stdout).toContain(`practice node ${OTHER} removed`);
    expect(tracesOf(OTHER)).toEqual([]);
    // An earlier test removed /etc, and resolv.conf with it.
    const { code, stdout } = await on(NAME, 'kubediag check stale-subpath-mount');
    expect(code, stdout).toBe(0);
  });

  test('with an unknown mount is not healed, and nothing is deleted', async () => {
    await on(NAME, 'umount --lazy /var/log; touch /tmp/still-there');
    const heal = await lab('heal', NAME);
    expect(heal.code).toBe(3);
    expect(oneLine(heal.stderr)).toContain('differ from the initial state (-/var/log)');
    expect((await on(NAME, 'ls /tmp/still-there')).code).toBe(0);
  });

  test('leaves nothing behind, not even a process that waits for a silent file server', async () => {
    const { pid } = await standing(NAME);
    // The last mount covers the files of the lab, which no process can read from then on.
    for (const folder of ['/mnt/silent', '/run/kubediag-lab']) {
      const hang = [
        `mkdir -p ${folder}; rm -f /run/said`,
        `setsid kubediag lab-part file-server ${folder} >/run/said 2>&1 &`,
        'until grep -q ready /run/said; do sleep 0.05; done',
        `setsid stat ${folder}/lab.json >/dev/null 2>&1 &`,
      ];
      await on(NAME, hang.join('\n'));
    }
    const listed = await runProgram([EXECUTABLE, 'lab', 'list']);
    expect(listed.stdout).toMatch(new RegExp(`^${NAME} +is up`, 'm'));
    // A stopped process also stops its parent nsenter, which then reaps no child.
    const stopped = spawn(EXECUTABLE, ['lab', 'run', '--name', NAME, '--', 'sleep', '1000']);
    await expect.poll(() => innerOf(stopped.pid), SOON).toBeGreaterThan(0);
    process.kill(await innerOf(stopped.pid), 'SIGSTOP');
    expect(await lab('down', NAME)).toMatchObject({ code: 0, stderr: '' });
    expect(tracesOf(NAME)).toEqual([]);
    expect(isRunning(pid)).toBe(false);
    expect(machineNow()).toEqual(before);
  });
});

/** The program that `lab run` has started on the node; 0 until it has started. */
async function innerOf(pid = 0): Promise<number> {
  const nsenter = await childOf(pid).catch(() => 0);
  const inner = await childOf(nsenter).catch(() => 0);
  const comm = () => readFileSync(`/proc/${inner}/comm`, 'utf8');
  return inner > 0 && comm() === 'sleep\n' ? inner : 0;
}

describe('a lab that was killed', () => {
  afterEach(async () => {
    await lab('down', NAME);
  });

  test.each([50, 200, 600])('%i ms after the start of its creation is removed', async (ms) => {
    const { child, end } = startProgram([EXECUTABLE, 'lab', 'up', '--name', NAME, ...STAND_IN]);
    await sleep(ms);
    child.kill('SIGKILL');
    await end;
    expect((await lab('down', NAME)).code).toBe(0);
    expect(tracesOf(NAME)).toEqual([]);
  });

  test('by its holder or its first process is dead, and removed by any "lab down"', async () => {
    for (const victim of ['holder', 'first'] as const) {
      await lab('up', NAME, ...STAND_IN);
      const { pid } = await standing(NAME);
      const holder = Number.parseInt(readFileSync(`/run/kubediag-lab/${NAME}/holder`, 'utf8'), 10);
      killIfThere(victim === 'holder' ? holder : pid);
      await expect.poll(() => stateOf(NAME), SOON).toEqual({ is: 'dead' });
      expect((await lab('run', NAME, '--', 'true')).stderr).toContain('its processes were killed');
      const down = await lab('down', OTHER);
      expect(down.stdout).toContain(`practice node ${NAME} was dead`);
      expect(tracesOf(NAME)).toEqual([]);
    }
  });

  test('is removed with processes that only see its files', async () => {
    await lab('up', NAME, ...STAND_IN);
    const { pid } = await standing(NAME);
    const guest = spawn('nsenter', ['--target', String(pid), '--mount', '--', 'sleep', '1000']);
    const comm = () => readFileSync(`/proc/${guest.pid}/comm`, 'utf8');
    await expect.poll(comm, SOON).toBe('sleep\n');
    killIfThere(pid);
    await expect.poll(() => stateOf(NAME), SOON).toEqual({ is: 'dead' });
    expect(guest.signalCode).toBeNull();
    expect((await lab('down', NAME)).code).toBe(0);
    await expect.poll(() => guest.signalCode, SOON).toBe('SIGKILL');
    expect(tracesOf(NAME)).toEqual([]);
  });

  test.each(['tour', 'exam'])('while it is made for a %s leaves nothing', async (command) => {
    const { child, end } = startProgram([EXECUTABLE, 'lab', command, ...STAND_IN]);
    const names = [`tour-${child.pid}`, `exam-${child.pid}-1`, `exam-${child.pid}-2`];
    const states = () => Promise.all(names.map(async (name) => (await stateOf(name)).is));
    await expect.poll(states, SOON).toContain('begun');
    child.kill('SIGINT');
    const { code, stderr } = await end;
    expect(code).toBe(3);
    expect(oneLine(stderr)).toContain('it was interrupted while its practice node was created');
    expect(names.flatMap(tracesOf)).toEqual([]);
  });

  test('during its creation reports that and leaves nothing behind', async () => {
    const { child, end } = startProgram([EXECUTABLE, 'lab', 'up', '--name', NAME, ...STAND_IN]);
    await expect.poll(() => stateOf(NAME), SOON).toEqual({ is: 'begun' });
    child.kill('SIGINT');
    const { code, stderr } = await end;
    expect(code).toBe(3);
    expect(oneLine(stderr)).toContain('it was interrupted; nothing of it is left');
    expect(tracesOf(NAME)).toEqual([]);
  });

  test('is not confused with a process that reuses its PID', async () => {
    const innocent = spawn('sleep', ['60']);
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8');
    const stat = readFileSync(`/proc/${innocent.pid}/stat`, 'utf8').trimEnd().split(' ');
    stat[21] = String(Number(stat[21]) - 1);
    mkdirSync(`/run/kubediag-lab/${NAME}`, { recursive: true, mode: 0o700 });
    writeFileSync(`/run/kubediag-lab/${NAME}/holder`, `${stat.join(' ')}\n${boot}`);
    expect((await lab('down', NAME)).code).toBe(0);
    expect(innocent.signalCode).toBeNull();
    innocent.kill();
    expect(tracesOf(NAME)).toEqual([]);
  });
});

describe('a practice node is refused', () => {
  test.each([
    [
      'without root',
      ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups'],
      'you are not root',
      'sudo kubediag lab',
    ],
    [
      'without the right to namespaces',
      ['setpriv', '--bounding-set', '-sys_admin'],
      'unshare failed: Operation not permitted',
      "never uses the machine's own files",
    ],
    [
      'without the right to devices',
      ['setpriv', '--bounding-set', '-mknod'],
      'missing: the right to make devices',
      'docker run --privileged',
    ],
    [
      'without the right to networks',
      ['setpriv', '--bounding-set', '-net_admin'],
      'private root: missing: a network of its own do',
      'docker run --privileged',
    ],
    [
      'without the right to another root',
      ['setpriv', '--bounding-set', '-sys_chroot'],
      'the capability CAP_SYS_CHROOT is missing',
      'docker run --privileged',
    ],
    [
      'in a user namespace that has no rights over the machine',
      ['unshare', '--user', '--map-root-user'],
      'cannot create namespaces',
      "never uses the machine's own files",
    ],
  ])('%s', async (_, through, why, todo) => {
    const up = await runProgram([...through, EXECUTABLE, 'lab', 'up', '--name', NAME, ...STAND_IN]);
    expect(up).toMatchObject({ code: 3, stdout: '' });
    expect(oneLine(up.stderr)).toContain(why);
    expect(oneLine(up.stderr)).toContain(todo);
    await lab('down', NAME);
    expect(tracesOf(NAME)).toEqual([]);
  });

  test.each(['Big', 'a b', '../x', '-x', 'x'.repeat(40)])('by the name %j', async (name) => {
    for (const command of ['up', 'tour', 'exam', 'serve', 'heal', 'down']) {
      const ended = await runProgram([EXECUTABLE, 'lab', command, `--name=${name}`]);
      expect(ended.code).toBe(64);
      expect(ended.stderr).toContain('not a host name');
    }
  });

  test.each(['tour', 'exam'])('to a %s that names one and says how to make it', async (command) => {
    const ended = await lab(command, NAME, '--kubelet', '/bin/true');
    expect(ended.code).toBe(64);
    expect(ended.stderr).toContain("'--name <NAME>' cannot be used with option '--kubelet <PATH>'");
  });
});
