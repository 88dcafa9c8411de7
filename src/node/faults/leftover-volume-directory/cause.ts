import type { PlacedMount } from '../../evidence/mounts/mount-places.ts';
import { pluginName } from '../../evidence/volumes/leftover-names.ts';
import type { LeftoverSurroundings } from '../../evidence/volumes/leftover-surroundings.ts';
import type { TeardownFailure } from '../../evidence/volumes/teardown-failures.ts';
import type { Proof } from '../../model/finding.ts';
import { type FolderFacts, nameOf, RENAMED_BEFORE_1_7 } from './folder-facts.ts';
import { lineProof } from './state.ts';

export interface Cause {
  readonly proof: readonly Proof[];
  /** What prevents it from happening again. */
  readonly prevention: readonly string[];
}

const HOLDERS_SHOWN_MAX = 3;

/** Why the teardown fails: by the kubelet's own words, else by who holds the volume, else unknown. */
export function causeOf(
  { failure, holders, folder, isMounted }: FolderFacts,
  around: LeftoverSurroundings | undefined,
): Cause {
  const fix = pluginFix(folder.plugin);
  const held = holders.slice(0, HOLDERS_SHOWN_MAX).map(({ held: one }) => holderProof(one, around));
  const release = holders.length > 0 ? [releaseOf(holders.map(({ held: one }) => one))] : [];
  const words: Proof = failure
    ? { ...lineProof(failure), claim: claimOf(failure) }
    : {
        claim: `cause: ${unspoken(isMounted, holders.length > 0, around)}`,
        origin: { file: folder.path },
      };
  return { proof: [words, ...held], prevention: [...release, fix] };
}

/** Without a log only this is known; a wrong cause would be worse than none. */
function unspoken(
  isMounted: boolean,
  isHeld: boolean,
  around: LeftoverSurroundings | undefined,
): string {
  if (isMounted) return 'the volume is still mounted for the kubelet, so it is busy (EBUSY)';
  const kernel = around?.kernel.known ? around.kernel.value.trim() : undefined;
  if (isHeld && kernel !== undefined && isBusyAnywhere(kernel)) {
    return `other namespaces have the volume mounted, so it is busy (EBUSY) on Linux ${kernel}`;
  }
  const aside = isHeld ? 'others have the volume mounted, which newer kernels do not mind; ' : '';
  return (
    `unknown; ${aside}the kubelet's log would show whether the rename fails because its target ` +
    'exists (EEXIST) or because the volume is busy (EBUSY)'
  );
}

// 3.10.0-1160.el7.x86_64, 3.16.0-4-amd64
const RELEASE = /^(\d+)\.(\d+)/;

/** Before Linux 3.18, and on RHEL 7, a mount point of any namespace is busy in all of them. */
function isBusyAnywhere(kernel: string): boolean {
  const [, major = '', minor = ''] = RELEASE.exec(kernel) ?? [];
  if (kernel.includes('.el7')) return true;
  return Number(major) < 3 || (Number(major) === 3 && Number(minor) < 18);
}

/** A failed rename leaves an empty directory at each try; a failed remove leaves one with content. */
export function claimOf({ operation, error }: TeardownFailure): string {
  const did = operation === 'rename' ? 'the rename fails' : 'the rename worked, the removal fails';
  switch (error) {
    case 'exists':
      return `cause: ${did} with EEXIST: since Go 1.8 a rename refuses a directory that is there`;
    case 'busy':
      return `cause: ${did} with EBUSY: the directory is mounted somewhere`;
    case 'not-empty':
      return `cause: ${did} because something is still written into it`;
    case 'other':
      return `cause: ${did}, for a reason of its own`;
    case 'cut':
      return `cause: ${did}; the reason is missing, because the line is cut off`;
  }
}

export function holderProof(
  { namespace, mount }: PlacedMount,
  around: LeftoverSurroundings | undefined,
): Proof {
  const { processName, pid, podUid, table } = namespace;
  return {
    claim:
      `held by ${processName} (pid ${pid}${podOf(podUid, around)}), whose mount namespace ` +
      `${namespace.namespace} has the volume mounted`,
    text: table.lineText(mount),
    origin: { ...table.origin, line: mount.line },
  };
}

function podOf(podUid: string | undefined, around: LeftoverSurroundings | undefined): string {
  if (podUid === undefined) return '';
  const { podName, podNamespace } = nameOf(podUid, around);
  return podName === undefined ? ` of pod ${podUid}` : ` of ${podNamespace}/${podName}`;
}

export function releaseOf(holders: readonly PlacedMount[]): string {
  const names = [...new Set(holders.map(({ namespace }) => namespace.processName))];
  return (
    `let ${names.slice(0, HOLDERS_SHOWN_MAX).join(', ')} mount the node's directories with ` +
    'mountPropagation: HostToContainer, and restart it; on RHEL 7 also set fs.may_detach_mounts=1'
  );
}

/** Who must change something so that no more are left. */
export function pluginFix(plugin: string): string {
  const name = pluginName(plugin);
  const bug = 'https://github.com/kubernetes/kubernetes/issues/43534';
  if (RENAMED_BEFORE_1_7.has(plugin)) {
    return `run a kubelet of 1.7.0 or newer: until then its ${name} renames before it deletes (${bug})`;
  }
  return (
    `fix the plugin ${name}: its teardown still renames the volume to NAME.deleting~NUMBER before it ` +
    `deletes it (${bug}); until then the pile grows back`
  );
}
