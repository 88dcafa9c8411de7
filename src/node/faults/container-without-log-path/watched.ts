import { isRelative, removesContainerLog } from '../../evidence/deletions/deletion-trace.ts';
import type { WatchedDeletion } from '../../evidence/deletions/watched-deletions.ts';
import type { Finding } from '../../model/finding.ts';
import { originText } from '../../model/origin.ts';
import type { ContainerWithoutLogPath } from './findings.ts';
import { preventionFor, type Reason, versionProof } from './messages.ts';
import type { Seen } from './observations.ts';

/** Of a container that nobody named: a tool watched the kubelet delete for it. */
export function watchedFindings(seen: Seen): readonly Finding<ContainerWithoutLogPath>[] {
  const proven = seen.watched.filter(
    ({ name, stack }) => isRelative(name) && removesContainerLog(stack),
  );
  const [first] = proven;
  if (!first) return [];
  const names = [...new Set(proven.map(({ name }) => `"${name}"`))].join(', ');
  return [
    {
      state: 'active',
      reason: 'DeletesWorkingFolder' satisfies Reason,
      summary:
        `${whoOf(first)} deletes entries of its own working folder while it removes the log of a ` +
        `container that has no log path; it was seen to delete ${names}.`,
      subject: first.folder === undefined ? {} : { path: first.folder },
      proof: [
        {
          claim: "it removes a name without a path, in the function that cleans a container's logs",
          text: [first.text, ...first.stack].join('\n'),
          origin: first.origin,
        },
        ...versionProof(seen.version),
      ],
      blastRadius: 'all files, links and empty folders of that folder, up to one that stays',
      excluded: ['a log that is removed as it should be: it would have an absolute path'],
      alternatives: [],
      prevention: preventionFor(['unknown']),
      pins: { socket: '', containers: [], logged: `watched ${names}`, bin: false },
    },
  ];
}

function whoOf({ process, pid }: WatchedDeletion): string {
  const who = process ?? 'somebody';
  return pid === undefined ? who : `${who} (process ${pid})`;
}

// kubelet, edgecore, k3s-server: what the kernel calls a kubelet, whole or cut
const KUBELET = /^(?:kubelet|edgecore|k3s|rke2|hyperkube|k0s)/;

/** A kubelet that deletes a bare name, where nobody wrote down on whose behalf. */
export function watchedSuspicion({ watched }: Seen): string | undefined {
  const bare = watched.find(
    ({ name = '', stack, process }) =>
      isRelative(name) &&
      !name.includes('/') &&
      stack.length === 0 &&
      (process === undefined || KUBELET.test(process)),
  );
  if (!bare) return undefined;
  return (
    `suspected: ${whoOf(bare)} deleted "${bare.name}" of its working folder (${originText(bare.origin)}); ` +
    'that it was for a container without a log path only its stack or its log shows'
  );
}
