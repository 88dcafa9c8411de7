import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { type Ended, EXECUTABLE, runProgram } from './run-kubediag.ts';

/** `kubediag lab COMMAND --name NAME ...`, of the built executable. */
export function lab(command: string, name: string, ...args: readonly string[]): Promise<Ended> {
  return runProgram([EXECUTABLE, 'lab', command, '--name', name, ...args]);
}

/** Whatever a lab of this name has on the machine: nothing, before it is made and after its end. */
export function tracesOf(name: string): readonly string[] {
  const folder = `/run/kubediag-lab/${name}`;
  return [
    ...(existsSync(folder) ? [folder] : []),
    ...globSync(['', '*/'].map((place) => `/sys/fs/cgroup/${place}kubediag-lab-${name}`)),
    ...readdirSync('/proc').flatMap((pid) => (isOf(pid, name) ? [whatIs(pid)] : [])),
  ];
}

/**
 * Whether a process holds it, is on it, or was started for it. No file of the node is read: a process that
 * serves that may be silent.
 */
function isOf(pid: string, name: string): boolean {
  const args = read(`/proc/${pid}/cmdline`).split('\0');
  return (
    read(`/proc/${pid}/mounts`).includes(`kubediag-lab-${name} / tmpfs `) ||
    args.includes(`/run/kubediag-lab/${name}/holder`) ||
    args.includes(name)
  );
}

function whatIs(pid: string): string {
  return `process ${pid}: ${read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ')}`;
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return ''; // The process is gone, or was none.
  }
}

/** What of the machine must be the same before, while and after a lab is up. */
export function machineNow(): Readonly<Record<string, unknown>> {
  const settings = ['vm/overcommit_memory', 'kernel/hostname', 'kernel/panic'];
  return {
    mounts: readFileSync('/proc/self/mountinfo', 'utf8'),
    devices: readdirSync('/dev').toSorted(),
    root: readdirSync('/').toSorted(),
    share: readdirSync('/usr/share').toSorted(),
    etc: readdirSync('/etc').toSorted(),
    programs: readdirSync('/usr/local/bin').toSorted(),
    varLib: readdirSync('/var/lib').toSorted(),
    network: readdirSync('/sys/class/net').toSorted(),
    settings: settings.map((name) => readFileSync(`/proc/sys/${name}`, 'utf8')),
  };
}
