import { type Signature, signature } from '../../model/log-signature.ts';

/** Volumes that could not be unmounted, removed or recognised, and the leftovers of their pods. */
export const VOLUME_SIGNATURES = {
  'teardown-failed': signature(
    ['UnmountVolume.TearDown failed', 'Could not tear down volume'],
    // UnmountVolume.TearDown failed for volume "token" (UniqueName: "...") pod "6eca..." (UID:
    // "6eca...") : remove /var/lib/kubelet/pods/6eca.../token: device or resource busy
    /UnmountVolume\.TearDown failed for volume "(?<volume>[^"]+)"(?=[\s\S]*? pod "(?<podUid>[^"]+)"|)(?=[\s\S]*?\(UID: "[^"]*"\)[^:\n]*: "?(?<error>[^"\n]+)|)/,
    // Could not tear down volume "6eca.../token": rename ...: device or resource busy
    /Could not tear down volume "(?<podUid>[^"/]+)\/(?<volume>[^"]+)": (?<error>[^"\n]+)/,
  ),
  'unmounter-failed': signature(
    ['UnmountVolume.NewUnmounter failed'],
    // UnmountVolume.NewUnmounter failed for volume "v" (UniqueName: "...") pod "4d3f..." (UID:
    // "4d3f...") : open /var/.../vol_data.json: no such file or directory
    /UnmountVolume\.NewUnmounter failed for volume "(?<volume>[^"]+)"(?=[\s\S]*? pod "(?<podUid>[^"]+)"|)(?=[\s\S]*?\(UID: "[^"]*"\)[^:\n]*: "?(?<error>[^"\n]+)|)/,
  ),
  'operation-failed': signature(
    ['No retries permitted until'],
    // Operation for ""kubernetes.io/secret/6eca-token" ("6eca")" failed. No retries permitted
    // until 2017-03-22 17:30:29.28 +0000 UTC (durationBeforeRetry 2m2s). Error: ...
    /Operation for "+(?<operation>[^"\n]+)"[\s\S]*?failed\. No retries permitted until (?<until>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)[^(\n]*(?:\(durationBeforeRetry (?<wait>[^)]+)\))?/,
  ),
  'unmount-failed': signature(
    ['Unmounting arguments: ', 'Output: umount: '],
    // Unmount failed: exit status 32 Unmounting arguments: /var/.../mount Output: umount: ...
    /Unmounting arguments: (?:-\S+ )*(?<path>\/[^\n"]+?)(?:\n\s*Output: (?:umount: [^\n":]+: )?(?<error>[^"\n]+)|"|\n|$)/,
    // umount: /var/lib/kubelet/pods/6eca/volumes/kubernetes.io~nfs/v: target is busy.
    /umount: (?<path>\/[^:\n"]+): (?<error>[^"\n]+)/,
  ),
  /** A path that is still mounted, here or in another mount namespace. */
  'path-busy': signature(
    ['or resource busy', 'target is busy'],
    // rename /var/.../token /var/.../wrapped_token.deleting~765506473: device or resource busy
    /(?<operation>rename) (?<path>\/[^\s"]+) (?<to>\/[^\s"]+?): device ?or resource busy/,
    // remove /var/lib/kubelet/pods/6eca/volumes/kubernetes.io~secret/token: device or resource busy
    // failed to rmdir() volume at path /var/lib/kubelet/pods/6eca/...: device or resource busy
    /(?<operation>remove|rmdir|unlinkat|unlink|unmount|umount)(?::|\(\) \w+ at path)? (?<path>\/[^\s"]+?): (?:device ?or resource|target is) busy/,
  ),
  /** The kubelet could not rename a volume's directory before its removal. */
  'rename-failed': signature(
    ['.deleting~'],
    // rename /var/.../test-volume /var/.../test-volume.deleting~355603580: file exists
    /rename (?<from>\/[^\s"]+) (?<to>\/[^\s"]+\.deleting~\d+): (?<error>[^"\n]+)/,
  ),
  /** A leftover directory that the kubelet takes for a volume, or could not remove. */
  'leftover-volume': signature(
    ['.deleting~'],
    // (volume.spec.Name: "test-volume.deleting~355603580.deleting~682169602") pod "49e7a02c-..."
    /volume\.spec\.Name: "(?<volume>[^"\s/]*?(?:\.deleting~\d{1,10})+)"(?=[\s\S]*? pod "(?<podUid>[^"]+)"|)/,
    // {podName:49e7a02c-... volumeSpecName:pvc-x.deleting~123456789 ...
    /podName[:=]"?(?<podUid>[\w-]+)"? volumeSpecName[:=]"?(?<volume>[^"\s,}]*?(?:\.deleting~\d{1,10})+)/,
    // (pod.UID 49e7a02c-..., volume.SpecName pvc-x.deleting~123456789)
    /pod\.UID (?<podUid>[\w-]+), volume\.SpecName (?<volume>[^)\s]*?(?:\.deleting~\d{1,10})+)/,
    // Orphaned volume "49e7a02c-.../wrapped_token.deleting~765506473" found, tearing down volume
    // /var/lib/kubelet/pods/49e7a02c-.../volumes/kubernetes.io~empty-dir/cache.deleting~12
    /(?:pods\/|")(?<podUid>[0-9a-f-]{32,36})\/(?:volumes\/(?<plugin>[^/\s"]+)\/)?(?<volume>[^\s"/:]*?(?:\.deleting~\d{1,10})+)/,
    // for volume "pvc-x.deleting~123456789"
    /(?<volume>[^\s"/:=({[]{1,300}?(?:\.deleting~\d{1,10})+)/,
  ),
  'reconstruction-failed': signature(
    ['Could not construct volume information'],
    // Could not construct volume information, cleanup the mounts. (pod.UID 49e7, volume.SpecName
    // pvc-x): no volume plugin matched
    /\(pod\.UID (?<podUid>[^,\s]+), volume\.SpecName (?<volume>[^)\s]+)\): (?<error>[^"\n]+)/,
    // "Could not construct volume information" podName="49e7" volumeSpecName="pvc-x" err="..."
    /Could not construct volume information[^:"]*"(?=[\s\S]*? podName="?(?<podUid>[^"\s]+)|)(?=[\s\S]*? volumeSpecName="?(?<volume>[^"\s]+)|)(?=[\s\S]*? err="(?<error>[^"\n]+)|)/,
    // Could not construct volume information: directory /var/.../pvc-f969 is not mounted
    /Could not construct volume information[^:\n]*: (?<error>[^"\n]+)/,
  ),
  'reconstruction-cleanup': signature(
    [
      'volume that could not be reconstructed',
      'could not find pod information in desired',
      'Get volumes from pod directory',
    ],
    // "Cleaning up mounts for volume that could not be reconstructed" volume={...}
    /(?<event>Cleaning up mounts) for volume that could not be reconstructed/,
    // Reconciler sync states: could not find pod information in desired or actual states or ...
    /(?<event>could not find pod information) in desired or actual states/,
    // Get volumes from pod directory "/var/lib/kubelet/pods" [{podName:49e7 volumeSpecName:x ...
    /(?<event>Get volumes from pod directory) "(?<path>[^"]+)"/,
  ),
  'orphaned-volume': signature(
    ['found, tearing down volume'],
    // Orphaned volume "49e7/wrapped_token.deleting~765506473" found, tearing down volume
    /Orphaned volume "(?<podUid>[^"/]+)\/(?<volume>[^"]+)" found, tearing down volume/,
  ),
  /** An orphaned pod whose directory cannot be removed: logged every two seconds. */
  'orphaned-pod': signature(
    ['rphaned pod '],
    // orphaned pod "4cdc" found, but failed to rmdir() volume at path /var/.../v: directory not
    // empty : There were a total of 1 errors similar to this.
    /^(?=[\s\S]*?(?:a total of |numErrs=)(?<count>\d+)|)[\s\S]*?rphaned pod "(?<podUid>[^"]*)" found, but (?<problem>[^"\n:]*? at path) (?<path>\/[^\n"]*?): (?<error>[^"\n]+?)(?= ?: There were|"|\n|\.?$)/,
    // orphaned pod "067f" found, but volume paths are still present on disk : There were a total
    // of 40 errors similar to this. Turn up verbosity to see them.
    // orphaned pod "067f" found, but error occurred when trying to remove the volumes dir: not a
    // directory
    /^(?=[\s\S]*?(?:a total of |numErrs=)(?<count>\d+)|)[\s\S]*?rphaned pod "(?<podUid>[^"]*)" found, but (?<problem>(?:[^"\n:]|:(?! ))+?)(?:(?<! ): (?<error>[^"\n]+?))?(?= ?: There were|"|\n|\.?$)/,
  ),
  /** The kubelet removed the leftovers of an orphaned pod. */
  'orphan-cleaned': signature(
    ['Cleaned up orphaned '],
    // "Cleaned up orphaned volume from pod" podUID="49e7" path="/var/.../pvc-x.deleting~1"
    // "Cleaned up orphaned pod volumes dir" podUID="49e7" path="/var/lib/kubelet/pods/49e7/volumes"
    /Cleaned up orphaned (?<what>[\w ()-]+)"(?=[\s\S]*? podUID="?(?<podUid>[^"\s]+)|)(?=[\s\S]*? path="?(?<path>[^"\s]+)|)/,
  ),
  'orphans-not-cleaned': signature(
    ['cleaning up orphaned pod directories'],
    // Failed cleaning up orphaned pod directories: lstat /var/.../v: transport endpoint is not ...
    /cleaning up orphaned pod directories"?(?:: | err=")(?:[a-z]+ (?<path>\/[^\s":]+): )?(?<error>[^"\n]+)/,
  ),
  'subpath-cleanup-failed': signature(
    ['error cleaning subPath mounts', 'prepare subPath for volumeMount'],
    // error cleaning subPath mounts for volume "v": error reading /var/...: lstat /var/.../2: ...
    /error cleaning subPath mounts for volume "(?<volume>[^"]+)": (?<error>[^"\n]+)/,
    // Failed to prepare subPath for volumeMount of the container
    /prepare subPath for volumeMount/,
  ),
  'mount-cleanup-skipped': signature(
    ['path does not exist: '],
    // mount cleanup skipped because path does not exist: /var/.../volume-subpaths/a/b/0
    // Warning: Unmount skipped because path does not exist: /var/...
    /(?:ount cleanup|nmount) skipped because path does not exist: (?<path>\/[^\s"]+)/,
  ),
  'device-still-mounted': signature(
    ['still mounted by other references'],
    // the device mount path "/var/.../globalmount" is still mounted by other references [/a /b]
    /device mount path "(?<path>[^"]+)" is still mounted by other references \[?(?<others>[^\]"\n]*)/,
  ),
  'not-connected': signature(
    ['ransport endpoint is not connected'],
    // lstat /var/.../static-storage: transport endpoint is not connected
    /(?:(?<path>\/[^\s":]{1,400}): )?[Tt]ransport endpoint is not connected/,
  ),
  'stale-handle': signature(
    ['stale NFS file handle', 'stale file handle', 'Stale file handle'],
    // lstat /var/.../volume-subpaths/nfs-content/a/2: stale NFS file handle
    /(?:(?<path>\/[^\s":]{1,400}): )?[Ss]tale (?:NFS )?file handle/,
  ),
} as const satisfies Readonly<Record<string, Signature>>;
