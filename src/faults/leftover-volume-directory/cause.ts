import type { LeftoverSurroundings } from '../../evidence/leftover-folders.ts';
import { pluginName } from '../../evidence/leftover-names.ts';
import type { PlacedMount } from '../../evidence/mount-places.ts';
import type { TeardownFailure } from '../../evidence/teardown-failures.ts';
import type { Proof } from '../../model/finding.ts';
import type { FolderFacts } from './folder-facts.ts';
import { RENAMED_BEFORE_1_7 } from './kubelet-behaviour.ts';
import { lineProof } from './state.ts';

export interface Cause {
  readonly proof: readonly Proof[];
  /** What keeps it from happening again. */
  readonly prevention: readonly string[];
}

const HOLDERS_SHOWN_MAX = 3;

/** Why the teardown fails: by the kubelet's own words, else by who holds the volume, else unknown. */
export function causeOf(
  { failure, holders, folder }: FolderFacts,
  around: LeftoverSurroundings | undefined,
): Cause {
  const fix = pluginFix(folder.plugin);
  const held = holders.slice(0, HOLDERS_SHOWN_MAX).map(({ held: one }) => holderProof(one, around));
  const release = holders.length > 0 ? [releaseOf(holders.map(({ held: one }) => one))] : [];
  if (failure) {
    const words = { ...lineProof(failure), claim: claimOf(failure) };
    return { proof: [words, ...held], prevention: [...release, fix] };
  }
  if (held.length > 0) {
    const claim =
      'cause: the volume cannot be renamed or removed while others have it mounted (EBUSY)';
    const [{ base } = { base: undefined }] = holders;
    return {
      proof: [{ claim, origin: base?.path ?? folder.path }, ...held],
      prevention: [...release, fix],
    };
  }
  const claim =
    "cause: unknown; the kubelet's log would tell whether the rename failed because the target is " +
    'there already (EEXIST) or because the volume is busy (EBUSY)';
  return { proof: [{ claim, origin: folder.path }], prevention: [fix] };
}

/** A failed rename leaves an empty folder at each try; a failed remove leaves one with content. */
export function claimOf({ deed, error }: TeardownFailure): string {
  const did = deed === 'rename' ? 'the rename fails' : 'the rename worked, the removal fails';
  switch (error) {
    case 'exists':
      return `cause: ${did} with EEXIST: since Go 1.8 a rename refuses a folder that is there`;
    case 'busy':
      return `cause: ${did} with EBUSY: the folder is mounted somewhere`;
    case 'not-empty':
      return `cause: ${did} because something is still written into it`;
    case 'other':
      return `cause: ${did}, for a reason of its own`;
    case 'cut':
      return `cause: ${did}; why is not told, for the line is cut off`;
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
    origin: `${table.origin}:${mount.line}`,
  };
}

function podOf(podUid: string | undefined, around: LeftoverSurroundings | undefined): string {
  if (podUid === undefined) return '';
  const pods = around?.pods.known ? around.pods.value.pods : [];
  const pod = pods.find(({ uid }) => uid === podUid);
  if (pod) return ` of ${pod.namespace}/${pod.name}`;
  const sandboxes = around?.containers.known ? around.containers.value.sandboxes : [];
  const sandbox = sandboxes.find((one) => one.podUid === podUid);
  return sandbox ? ` of ${sandbox.podNamespace}/${sandbox.podName}` : ` of pod ${podUid}`;
}

export function releaseOf(holders: readonly PlacedMount[]): string {
  const names = [...new Set(holders.map(({ namespace }) => namespace.processName))];
  return (
    `let ${names.slice(0, HOLDERS_SHOWN_MAX).join(', ')} mount the node's folders with ` +
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
