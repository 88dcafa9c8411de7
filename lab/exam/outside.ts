import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { labCgroup } from '../cgroups.ts';
import { mountLine } from '../mount-tables.ts';
import { PLACES } from '../places.ts';
import { allProcesses, procFile } from '../process-mark.ts';
import { unlessGone } from '../unless-gone.ts';

/** Version 2 has one tree here, version 1 one for each controller. */
const CGROUPS = '/sys/fs/cgroup';

/**
 * The mounts, processes, directories and cgroups of these labs on the machine. The machine does
 * other work at the same time, so only objects with one of these names count.
 */
export function outsideOf(names: readonly string[]): readonly string[] {
  const isOurs = (name: string) => names.includes(name);
  const marks = names.flatMap((name) => [`${PLACES.lab}/${name}`, labCgroup(name)]);
  const isMarked = (text: string) => marks.some((mark) => text.includes(mark));
  const mounts = readFileSync('/proc/self/mountinfo', 'utf8').split('\n').filter(isMarked);
  return [
    ...mounts.map(mountLine),
    ...processesWith(isMarked),
    ...entriesOf(PLACES.lab)
      .filter(isOurs)
      .map((name) => `folder ${PLACES.lab}/${name}`),
    ...names.map(labCgroup).flatMap((cgroup) =>
      [CGROUPS, ...entriesOf(CGROUPS).map((each) => join(CGROUPS, each))]
        .map((hierarchy) => join(hierarchy, cgroup))
        .filter((folder) => existsSync(folder))
        .map((folder) => `cgroup ${folder}`),
    ),
  ];
}

/** A process of a lab is in its cgroup, sees its mounts, or has its directory in its arguments. */
function processesWith(isMarked: (text: string) => boolean): readonly string[] {
  return allProcesses().flatMap((pid) => {
    const words = procFile(pid, 'cmdline').replaceAll('\0', ' ').trim();
    const isOurs = [words, procFile(pid, 'cgroup'), procFile(pid, 'mountinfo')].some(isMarked);
    return isOurs && pid !== process.pid ? [`process ${pid} ${words}`] : [];
  });
}

function entriesOf(folder: string): readonly string[] {
  return unlessGone(() => readdirSync(folder)) ?? [];
}
