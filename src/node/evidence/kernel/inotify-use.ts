import { defineEvidence } from '../../model/evidence.ts';
import type { InotifyInstance } from '../../model/node-reader.ts';
import { type KernelNumber, kernelNumber } from './kernel-number.ts';

/** The inotify instances or watches of one user, and the kernel's limit per user. */
export interface InotifyUse {
  readonly who: string;
  readonly what: 'instances' | 'watches';
  readonly used: KernelNumber;
  readonly limit: KernelNumber;
  readonly pins: { readonly user: number; readonly what: string };
}

const HOLDERS_SHOWN = 5;

export const inotifyUse = defineEvidence<readonly InotifyUse[]>({
  id: 'inotify-use',
  title: 'inotify instances and watches of each user',
  collect: async (snapshot) => {
    const { node } = snapshot;
    const own = await node.ask('link', { path: '/proc/1/ns/user' });
    const instances = await node.ask('inotify', { instances: 'inotify' });
    const limitOf = (what: InotifyUse['what']) =>
      kernelNumber(snapshot, {
        path: `/proc/sys/fs/inotify/max_user_${what}`,
        claim: `the limit of ${what} for each user`,
      });
    const limits = { instances: await limitOf('instances'), watches: await limitOf('watches') };
    // Root created the user namespaces of containers, so the kernel charges root for them.
    const userOf = ({ user, userNamespace }: InotifyInstance) => (userNamespace === own ? user : 0);
    return [...Map.groupBy(instances, userOf)].flatMap(([user, held]) =>
      (['instances', 'watches'] as const).map((what) => {
        const who = user === 0 ? 'root' : `user ${user}`;
        const value = held.reduce(
          (sum, { watches }) => sum + (what === 'watches' ? watches : 1),
          0,
        );
        const claim = `processes of ${who} hold ${value} inotify ${what}`;
        const used = { value, proof: { claim, text: holdersIn(held), origin: { file: '/proc' } } };
        return { who, what, used, limit: limits[what], pins: { user, what } };
      }),
    );
  },
});

/** Largest first: "containerd-shim 96, kubelet 6". */
function holdersIn(instances: readonly InotifyInstance[]): string {
  return [...Map.groupBy(instances, ({ process }) => process)]
    .toSorted(([, left], [, right]) => right.length - left.length)
    .slice(0, HOLDERS_SHOWN)
    .map(([process, held]) => `${process} ${held.length}`)
    .join(', ');
}
