import { labelledText } from '../../../lib/terminal/wrap.ts';
import type { Report } from '../../../node/checkup/report.ts';
import { attempt } from '../../../node/model/evidence.ts';
import type { NodeReader } from '../../../node/model/node-reader.ts';

/** As wide as the rest of this page. */
const PAGE_COLUMNS = 80;
const LABEL_COLUMNS = 15;

/** The initial PID namespace has this number on every Linux. */
const FIRST_PID_NAMESPACE = 'pid:[4026531836]';

/** Whether there is no sign of a kubelet. Its root directory may be at an unusual place. */
export function hasNothingToCheck({ node, faults }: Report): boolean {
  return node.kubelet.presence === 'absent' && faults.every(({ verdict }) => verdict !== 'found');
}

/** For a machine without a kubelet: what was searched for, and what to do instead. */
export async function adviceWithoutKubelet(
  report: Report,
  node: NodeReader,
  hostRoot: string,
): Promise<string | undefined> {
  if (!hasNothingToCheck(report)) return undefined;
  const { notes = [] } = report.node.kubelet;
  const namespace = await attempt(node.ask('link', { path: '/proc/1/ns/pid' }));
  const isContainer = namespace.known && namespace.value !== FIRST_PID_NAMESPACE;
  const lines = isContainer ? CONTAINER : MACHINE;
  const root = hostRoot === '/' ? [] : [`(searched below --host-root ${hostRoot})`];
  const layout = { columns: LABEL_COLUMNS, indent: '' };
  const odd = notes.flatMap((note) =>
    labelledText('note', `${note}; to use it anyway: --kubelet-pid PID`, PAGE_COLUMNS, layout),
  );
  return [...lines, ...root, ...ELSEWHERE, ...odd, ''].join('\n');
}

const MACHINE = [
  'No kubelet on this machine: none is running, and none of the usual root',
  'directories exists (/var/lib/kubelet, /var/lib/k0s/kubelet, ...). Nothing to check.',
  '',
  'on a node      copy this executable there and run, as root: kubediag check',
  'other root     kubediag check --kubelet-root DIR',
];

const CONTAINER = [
  'No kubelet is visible from here: this container has its own PID namespace and',
  "cannot see the node's processes.",
  '',
  'from outside   kubectl debug node/NODE -it --profile=sysadmin --image=IMAGE -- chroot /host kubediag check',
  'on the node    kubediag check',
  'with hostPID   nsenter --target 1 --mount --pid --net kubediag check',
  '               or, with this file: kubediag check --host-root /proc/1/root',
];

const ELSEWHERE = [
  'any machine    record a node with kubediag bundle, then: kubediag replay FILE',
  'to read        kubediag explain',
];
