import { readFile } from 'node:fs/promises';

const TICKS_PER_SECOND = 100;
const MIB_IN_KIB = 1024;

/** The processor time of a process since its start. */
export async function cpuSeconds(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8');
  // 4211 (kubediag) S 1 ...: the 14th and 15th field are utime and stime.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** Resident memory of a process, now or at its peak. */
export async function memoryMib(pid: number, name: 'VmRSS' | 'VmHWM'): Promise<number> {
  const text = await readFile(`/proc/${pid}/status`, 'utf8');
  // VmRSS:	   49152 kB
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1]) / MIB_IN_KIB;
}
