import { shellCommand } from '../../../lib/std/shell-command.ts';
import type { ContainerStatuses } from '../../evidence/containers/container-statuses.ts';
import type { Containers } from '../../evidence/containers/containers.ts';
import type { StartRefusals } from '../../evidence/containers/start-refusals.ts';
import type { Kubelet } from '../../evidence/kubelet/kubelet.ts';
import type { KubeletVersion } from '../../evidence/kubelet/kubelet-version.ts';
import type { LogEntry } from '../../evidence/logs/log-entries.ts';
import type { Mount, MountTable } from '../../evidence/mounts/mount-table.ts';
import { subpathSource, subpathTarget } from '../../evidence/mounts/subpath-source.ts';
import type { Pods } from '../../evidence/pods/pods.ts';
import type { Maybe } from '../../model/evidence.ts';
import type { Finding } from '../../model/finding.ts';
import { type Unknown, unknownFrom, type Verdict, verdictOf } from '../../model/verdict.ts';
import { type Candidate, candidateOf } from './candidate.ts';
import { isRepairedByKubelet } from './kubelet-behaviour.ts';
import {
  activeFinding,
  benignFinding,
  latentFinding,
  type StaleSubpathMount,
  subjectOf,
} from './messages.ts';
import { sourcesSaidGone } from './mount-error.ts';

export interface Seen {
  readonly kubelet: Kubelet;
  readonly version: Maybe<KubeletVersion>;
  readonly mounts: Maybe<MountTable>;
  readonly containers: Maybe<Containers>;
  readonly statuses: Maybe<ContainerStatuses>;
  readonly refusals: StartRefusals;
  readonly backOffs: Maybe<readonly LogEntry[]>;
  readonly pods: Maybe<Pods>;
}

/** What was seen, once the mount table is among it. */
export type SeenMounts = Omit<Seen, 'mounts'> & { readonly mounts: MountTable };

type Judgement = { readonly finding?: Finding<StaleSubpathMount>; readonly unknown?: Unknown };

export function diagnose(seen: Seen): Verdict<StaleSubpathMount> {
  const { mounts, containers, statuses, version } = seen;
  const judgements = mounts.known ? judgeMounts({ ...seen, mounts: mounts.value }) : [];
  const findings = judgements.flatMap(({ finding }) => finding ?? []);
  const unknowns = judgements.flatMap(({ unknown }) => unknown ?? []);
  const quoted = seen.refusals.flatMap(({ text }) => sourcesSaidGone(text));
  const shown = new Set([...findings, ...unknowns].map(({ subject }) => subject?.mount));
  const unseen = [...new Set(quoted)].filter((path) => !shown.has(path));
  unknowns.push(...unseen.map((path) => suspicion(path, mounts.known, seen.kubelet)));
  for (const each of [mounts, containers, statuses, version]) {
    // What stands on a read that failed says the same again.
    if (!each.known && !unknowns.some(({ why }) => why === each.why))
      unknowns.push(unknownFrom(each));
  }
  return verdictOf({ findings, unknowns });
}

function judgeMounts(seen: SeenMounts): readonly Judgement[] {
  return seen.mounts.mounts
    .filter(({ isDeleted }) => isDeleted)
    .flatMap((mount) => judge(mount, seen) ?? []);
}

/** An error alone is no proof: the mount may be gone by now, or of a volume that is not ours. */
function suspicion(path: string, hasTable: boolean, { root }: Kubelet): Unknown {
  const { podUid = 'unknown', container = '' } = subpathTarget(path, root) ?? {};
  const missing = hasTable
    ? 'but the mount table that was read does not show that mount as deleted'
    : 'and whether its source is really gone only the mount table of the kubelet shows';
  return {
    why:
      `suspected: the runtime refused to start container "${container}" of pod ${podUid}, for ` +
      `what is mounted at ${path} is gone; ${missing}`,
    subject: { podUid, container, mount: path },
  };
}

/** Undefined for all that is not ours to speak of: another mount, another fault, a look-alike. */
function judge(mount: Mount, seen: SeenMounts): Judgement | undefined {
  const { root } = seen.kubelet;
  const target = subpathTarget(mount.target, root);
  if (!target) return undefined;
  const source = subpathSource(mount, seen.mounts, root);
  const candidate = candidateOf({ ...seen, mount, target });
  if (candidate.isGoing) return undefined;
  if (!source.regenerable) return judgeLastCopy(candidate, source.kind, seen.kubelet);

  if (candidate.refusal) return { finding: activeFinding(candidate, source, seen) };
  if (candidate.state === 'finished') return undefined;
  if (!seen.containers.known || !seen.statuses.known) return uncertain(candidate, STATE_UNKNOWN);
  if (!seen.version.known) return uncertain(candidate, VERSION_UNKNOWN);
  const repaired = isRepairedByKubelet(seen.version.value);
  if (repaired === true && candidate.complaint) return uncertain(candidate, UNKNOWN_TEXT);
  if (repaired === true) return { finding: benignFinding(candidate, source, seen) };
  if (repaired === 'unknown') {
    const why = `whether kubelet ${seen.version.value.text} repairs its stale mount is not known`;
    return uncertain(candidate, why);
  }
  if (candidate.state === 'unclear') return uncertain(candidate, candidate.unclear ?? '');
  if (candidate.nextStart) return { finding: activeFinding(candidate, source, seen) };
  return { finding: latentFinding(candidate, source, seen) };
}

const VERSION_UNKNOWN =
  'its subPath mount lost its source, and whether the kubelet repairs that depends on its version';

const STATE_UNKNOWN =
  'suspected, because its subPath mount lost its source; only the runtime knows whether it runs, or should';

// /..2021_06_02_06_01_21.244319292/tls.crt
const PAYLOAD = /^\/\.\.\d{4}(?:_\d\d){5}\.\d+\/./;

const UNKNOWN_VOLUME =
  'suspected, because its subPath mount lost its source; of what volume it was is not in the mount table';

const UNKNOWN_TEXT =
  'it does not run, and the runtime complains of its stale subPath mount in words we do not know';

function uncertain(candidate: Candidate, why: string): Judgement {
  return { unknown: { why: `${candidate.where}: ${why}`, subject: subjectOf(candidate) } };
}

/**
 * A volume that only this mount may still show (emptyDir, hostPath, a claim) is no case for us:
 * an unmount could destroy the last copy. We speak of it only when a container is held up by it.
 */
function judgeLastCopy(
  candidate: Candidate,
  kind: string,
  { process }: Kubelet,
): Judgement | undefined {
  // In a table of which lines are missing, the mount that would name the kind of volume may be one.
  if (!candidate.refusal && kind === 'unknown' && PAYLOAD.test(candidate.mount.root)) {
    return uncertain(candidate, UNKNOWN_VOLUME);
  }
  if (!candidate.refusal) return undefined;
  const { where, mount, target } = candidate;
  const rescue = `/root/kubediag-rescue-${target.volume}-${target.container}-${target.index}`;
  // Outside the kubelet's namespace the same path shows an empty placeholder.
  const enter = ['nsenter', '--target', String(process?.pid ?? 1), '--mount', '--'];
  return {
    unknown: {
      why:
        `${where} cannot start: its subPath mount lost its source, and the volume (${kind}) is ` +
        'not one that the kubelet can rebuild, so the mount may hold the last copy of its data ' +
        'and KubeDiag leaves it alone; kubediag recover stale-subpath-mount shows the manual steps',
      subject: subjectOf(candidate),
      manual: {
        commands: [
          shellCommand([...enter, 'cp', '--archive', '--sparse=always', mount.target, rescue]),
        ],
        risk: 'what was not copied is lost once the mount or the pod is gone',
      },
    },
  };
}
