import { defineEvidence } from '../../model/evidence.ts';
import type { InotifyInstance } from '../../model/node-reader.ts';
import { type KernelNumber, kernelNumber } from './kernel-number.ts';

/** What the processes of one user hold, and the limits that the kernel has for each user. */
export interface InotifyUse {
  readonly users: readonly InotifyUser[];
  readonly instancesMax: KernelNumber;
  readonly watchesMax: KernelNumber;
}

export interface InotifyUser {
  readonly user: number;
  readonly instances: number;
  readonly watches: number;
  /** The largest first: "containerd-shim 96, kubelet 6". */
  readonly holders: string;
}

const HOLDERS_SHOWN = 5;

export const inotifyUse = defineEvidence<InotifyUse>({
  id: 'inotify-use',
  title: 'inotify instances and watches of each user',
  collect: async (snapshot) => {
    const { node } = snapshot;
    const own = await node.ask('link', { path: '/proc/1/ns/user' });
    const instances = await node.ask('inotify', { instances: 'inotify' });
    // A user namespace of a container was made by root, and root is charged for all in it.
    const userOf = ({ user, userNamespace }: InotifyInstance) => (userNamespace === own ? user : 0);
    const limitOf = (what: string) =>
      kernelNumber(
        snapshot,
        `/proc/sys/fs/inotify/max_user_${what}`,
        `the limit of ${what} for each user`,
      );
    return {
      users: [...Map.groupBy(instances, userOf)].map(([user, theirs]) => usedBy(user, theirs)),
      instancesMax: await limitOf('instances'),
      watchesMax: await limitOf('watches'),
    };
  },
});

function usedBy(user: number, theirs: readonly InotifyInstance[]): InotifyUser {
  const byName = Map.groupBy(theirs, ({ process }) => process);
  const holders = [...byName]
    .toSorted(([, left], [, right]) => right.length - left.length)
    .slice(0, HOLDERS_SHOWN)
    .map(([process, held]) => `${process} ${held.length}`);
  const watches = theirs.reduce((sum, each) => sum + each.watches, 0);
  return { user, instances: theirs.length, watches, holders: holders.join(', ') };
}
