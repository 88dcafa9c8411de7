import { wrapText } from '../../../lib/terminal/wrap.ts';
import type { Report } from '../../../node/checkup/report.ts';
import { attempt } from '../../../node/model/attempt.ts';
import type { NodeReader } from '../../../node/model/node-reader.ts';

/** As wide as the rest of this page. */
const LABEL_COLUMNS = 15;
const NOTE_COLUMNS = 65;

/** The PID namespace that the kernel starts with has this number on every Linux. */
const FIRST_PID_NAMESPACE = 'pid:[4026531836]';

/** Whether there is no kubelet here, nor one that ended: its directory may be at an unusual place. */
export function hasNothingToCheck({ node, faults }: Report): boolean {
  return node.kubelet.presence === 'absent' && faults.every(({ verdict }) => verdict !== 'found');
}

/** On a machine without a kubelet: what we looked for, and where one would get further. */
export async function adviceWithoutKubelet(
  node: NodeReader,
  hostRoot: string,
  notes: readonly string[],
): Promise<string> {
  const namespace = await attempt(node.ask('link', { path: '/proc/1/ns/pid' }));
  const isContainer = namespace.known && namespace.value !== FIRST_PID_NAMESPACE;
  const lines = isContainer ? CONTAINER : MACHINE;
  const root = hostRoot === '/' ? [] : [`(looked below --host-root ${hostRoot})`];
  const odd = notes.flatMap((note) =>
    wrapText(`${note}; to take it all the same: --kubelet-pid`, NOTE_COLUMNS).map(
      (line, at) => `${(at === 0 ? 'note' : '').padEnd(LABEL_COLUMNS)}${line}`,
    ),
  );
  return [...lines, ...root, ...ELSEWHERE, ...odd, ''].join('\n');
}

const MACHINE = [
  'There is no kubelet on this machine: none runs, and none of the usual kubelet',
  'folders exists (/var/lib/kubelet, /var/lib/k0s/kubelet, ...). Nothing to check.',
  '',
  'on a node      copy this executable there, and as root: kubediag check',
  'other folder   kubediag check --kubelet-root DIR',
];

const CONTAINER = [
  'There is no kubelet to be seen from here, and this is a container that does not',
  "see the node's processes (its PID namespace is its own).",
  '',
  'from outside   kubectl debug node/NODE -it --profile=sysadmin --image=IMAGE -- chroot /host kubediag check',
  'on the node    kubediag check',
  'with hostPID   nsenter --target 1 --mount --pid --net kubediag check',
  '               or, with this file: kubediag check --host-root /proc/1/root',
];

const ELSEWHERE = [
  'any machine    kubediag replay FILE, which a node writes with: kubediag bundle',
  'to read        kubediag explain',
];
