import { isBytewiseAfter } from '../../../lib/std/bytewise.ts';
import { defined } from '../../../lib/std/defined.ts';
import type { MergedUsr } from '../../evidence/deletions/merged-usr.ts';
import type { Finding } from '../../model/finding.ts';
import type { Unknown } from '../../model/verdict.ts';
import { type ContainerWithoutLogPath, removalProof } from './findings.ts';
import type { Removal } from './log-lines.ts';
import { binProof, preventionFor, type Reason, type Seen } from './messages.ts';

type Findings = readonly Finding<ContainerWithoutLogPath>[];

interface Damage {
  readonly findings: Findings;
  readonly unknowns: readonly Unknown[];
}

/** Undefined when /bin is there. */
export function findDamage(
  findings: Findings,
  removals: readonly Removal[],
  seen: Seen,
): Damage | undefined {
  if (!seen.usr.known || seen.usr.value.bin !== 'gone') return undefined;
  const usr = seen.usr.value;
  const proofs = usr.hasUsrBin && usr.siblings.length > 0 && worksInRoot(seen);
  // A line shows how far the kubelet got; /bin is gone too if it got further.
  const past = removals.findLast(({ name }) => isPast(name));
  const armed = findings.filter((finding) => hasSwept(finding, removals, seen));
  if (!proofs || (!past && armed.length === 0)) {
    return { findings, unknowns: [unknownCause(usr)] };
  }
  const merged = damagedFinding({ armed, past, usr, seen });
  return { findings: [merged, ...findings.filter((each) => !armed.includes(each))], unknowns: [] };
}

/** Only there is "bin" the name of /bin; and a kubelet in a container has a root of its own. */
function worksInRoot({ kubelet, usr }: Seen): boolean {
  const process = kubelet.known ? kubelet.value.process : undefined;
  if (process === undefined) return true;
  return process.workingFolder === '/' && usr.known && usr.value.isKubelets === true;
}

/** Whether the kubelet has come past "bin" for this container, or for one that nobody named. */
function hasSwept(
  { reason, pins }: Findings[number],
  removals: readonly Removal[],
  { unlogged, watched }: Seen,
): boolean {
  if (reason !== 'DeletesWorkingFolder' && reason !== 'WillDeleteWorkingFolder') return false;
  const ids = [...pins.containers.map(({ container }) => container), pins.logged];
  if (removals.some(({ containerId, name }) => ids.includes(containerId) && isPast(name))) {
    return true;
  }
  if (pins.containers.length === 0) return watched.some(({ name }) => name === 'bin');
  const here = unlogged.known ? unlogged.value.containers : [];
  return here.some(({ id, logPath, sweep }) => {
    if (!ids.includes(id) || !'bin'.startsWith(logPath) || !sweep.known) return false;
    const { folder, stop } = sweep.value;
    // What stands in its way now has stood in its way then.
    return folder === '/' && (stop === undefined || isPast(stop.name));
  });
}

function isPast(name: string): boolean {
  return isBytewiseAfter(name, 'bin');
}

function damagedFinding(known: {
  readonly armed: Findings;
  readonly past: Removal | undefined;
  readonly usr: MergedUsr;
  readonly seen: Seen;
}): Finding<ContainerWithoutLogPath> {
  const { armed, past, usr, seen } = known;
  const reported = armed.flatMap(({ proof }) => proof);
  // As long as it is there a restored /bin would be gone again.
  const refusal = armed.find((finding) => finding.refusal !== undefined)?.refusal;
  const isReported = past && reported.some(({ text }) => text === past.line.text);
  const ids = armed.flatMap(({ pins }) => pins.containers.map(({ container }) => container));
  const producers = (seen.unlogged.known ? seen.unlogged.value.containers : [])
    .filter(({ id }) => ids.includes(id))
    .map(({ producer }) => producer);
  return defined({
    state: 'damaged',
    reason: 'DeletedBin' satisfies Reason,
    summary:
      'The kubelet has deleted /bin: it garbage-collected a container without a log path, ' +
      'and took its own working directory for the logs.' +
      (armed.length > 0 ? ' It does so again within a minute whenever /bin is restored.' : ''),
    subject: { ...armed[0]?.subject, path: '/bin' },
    proof: [binProof(usr), ...reported, ...(past && !isReported ? [removalProof(past)] : [])],
    blastRadius:
      'the link /bin, and so every program that is called by that path: shells, logins, scripts',
    excluded: [
      'a /bin that was a directory of its own: the links beside it show that it led into /usr',
    ],
    alternatives: [],
    refusal,
    prevention: preventionFor(producers.length > 0 ? producers : ['unknown']),
    pins: {
      socket: armed.find(({ pins }) => pins.socket !== '')?.pins.socket ?? '',
      containers: armed.flatMap(({ pins }) => pins.containers),
      bin: true,
    },
  });
}

function unknownCause({ hasUsrBin, siblings }: MergedUsr): Unknown {
  const why =
    '/bin is gone from the root of this node, of unknown cause: nothing seen here shows that the ' +
    'kubelet deleted it';
  if (!hasUsrBin || siblings.length === 0) return { why, subject: { path: '/bin' } };
  return {
    why,
    subject: { path: '/bin' },
    manual: {
      commands: ['/usr/bin/ln -s usr/bin /bin'],
      risk: 'until you know who deleted it, it may disappear again within a minute',
    },
  };
}
