import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PLACES } from '../places.ts';
import { labCgroup } from '../runtime/lab-cgroup.ts';
import type { Snapshot } from './compare.ts';
import { mountLine } from './mount-line.ts';
import { unlessGone } from './unless-gone.ts';

/** Version 2 has one tree here, version 1 one for each controller. */
const CGROUPS = '/sys/fs/cgroup';

/**
 * What of the machine itself a lab could leave behind: mounts, its folder, its cgroups. Other labs are
 * no matter of this one, so only what is called by one of these names counts, and of mounts all that
 * does not lie in another lab.
 */
export function outsideOf(names: readonly string[]): Snapshot {
  const isOurs = (name: string) => names.includes(name);
  const isOthers = (line: string) =>
    line.includes(`${PLACES.lab}/`) &&
    !names.some((name) => line.includes(`${PLACES.lab}/${name}`));
  const mounts = readFileSync('/proc/self/mountinfo', 'utf8').split('\n').filter(Boolean);
  return [
    ...mounts.map(mountLine).filter((line) => !isOthers(line)),
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

function entriesOf(folder: string): readonly string[] {
  return unlessGone(() => readdirSync(folder)) ?? [];
}
