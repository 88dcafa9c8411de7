import { jsonValue, textAt } from '../../lib/std/json.ts';
import { faults } from '../../node/faults/index.ts';
import type { AnyFault } from '../../node/model/fault.ts';
import type { Verdict } from '../../node/model/verdict.ts';
import {
  failedWith,
  needed,
  type OperationResult,
  refusedWith,
  type StepRecord,
} from '../steps/operation-result.ts';
import { podOfStep } from '../steps/step-input.ts';
import { checkForFault, findingRecord, seenIn } from './diagnose-fault.ts';
import { isPathOf } from './pod-scope.ts';
import type { OwnProcessor } from './processor-host.ts';
import { actionsOf, doneBefore, recoverFindings } from './recover-finding.ts';

const POD = 'collector.kubernetes.pod.detail';
const MOUNTS = 'collector.system.mountinfo';
const FOUND = 'diagnoser.kubernetes.subpath_remount';
const DESTINATION = `${FOUND}.original_destination_path`;
const RECOVERED = 'recover.kubernetes.subpath_remount.result';

export const subpathProcessors: readonly OwnProcessor[] = [
  {
    path: '/processor/subpathRemountDiagnoser',
    operation: 'subpath-remount-diagnoser',
    does: 'finds a container that cannot start because its subPath mount lost its source',
    reads: [POD, MOUNTS],
    writes: [`${FOUND}.result`, `${FOUND}.bug_link`, `${FOUND}.original_source_path`, DESTINATION],
    repairs: false,
    forPod: 'limited',
    /**
     * Whether the pod that was collected is held up by a subPath mount of a deleted file. What earlier
     * steps collected names the pod; the judgement is our own, in a new snapshot.
     */
    async run(input, host) {
      const missing = [POD, MOUNTS].find((key) => !input[key]);
      if (missing) return failedWith(needed(missing, 'let its collector be an earlier step'));
      const pod = jsonValue(input[POD] ?? '')?.value;
      const namespace = textAt(pod, 'metadata', 'namespace');
      const name = textAt(pod, 'metadata', 'name');
      if (!namespace || !name) return failedWith(`${POD} is no pod with a name and a namespace`);
      const { scope } = host;
      if (scope && (textAt(pod, 'metadata', 'uid') ?? scope.uid) !== scope.uid)
        return otherPod(POD);
      if (scope && (namespace !== scope.namespace || name !== scope.name)) return otherPod(POD);
      const fault = staleSubpathMount();
      const { verdict } = await checkForFault(fault, { namespace, name }, host);
      const all = activeIn(fault, verdict);
      const [found] = all;
      if (!found) {
        const { record, reason } = seenIn(fault, verdict);
        return failedWith(`pod ${namespace}/${name}: ${otherwise(verdict)}`, record, reason);
      }
      const { mount } = found;
      const ofContainer = all.filter((each) => isSameContainer(each.mount.target, mount.target));
      return {
        succeeded: true,
        results: {
          [`${FOUND}.result`]: 'pod met a bug of subpath-remounting',
          [`${FOUND}.bug_link`]: fault.references[0] ?? '',
          [`${FOUND}.original_source_path`]: `${mount.root}//deleted`,
          [DESTINATION]: mount.target,
        },
        record: { findings: ofContainer.map(({ finding }) => findingRecord(fault, finding)) },
      };
    },
  },
  {
    path: '/processor/subpathRemountRecover',
    operation: 'subpath-remount-recover',
    does: 'unmounts what that step found, and other such mounts of the container, if a new check confirms it',
    reads: [DESTINATION],
    writes: [RECOVERED],
    repairs: true,
    forPod: 'limited',
    repairsFault: staleSubpathMount().id,
    /** Unmounts what an earlier step has found, if a new check finds the same. */
    async run(input, host) {
      const { [DESTINATION]: target } = input;
      if (!target) return failedWith(needed(DESTINATION, 'let the diagnoser be an earlier step'));
      if (host.scope && !isPathOf(target, host.scope)) return otherPod(DESTINATION);
      const fault = staleSubpathMount();
      const before = await doneBefore(fault, host);
      if (!before.isKnown) return failedWith(before.why, undefined, 'Refused');
      const { verdict, checked } = await checkForFault(fault, podOfStep(input), host);
      // With only one of them gone, the container still could not start.
      const found = activeIn(fault, verdict).filter(({ mount }) =>
        isSameContainer(mount.target, target),
      );
      const done = before.done.filter(
        ({ action }) => action.kind === 'unmount' && isSameContainer(action.target, target),
      );
      const known = [...found.map(({ mount }) => mount), ...done.map(({ action }) => action)];
      if (!known.some((each) => 'target' in each && each.target === target)) {
        const why = 'a new check does not find that a container is held up by this mount';
        return refusedWith(`${why}: ${target} (${otherwise(verdict)})`);
      }
      const findings = found.map(({ finding }) => finding);
      const task = { fault, findings, earlier: [], begun: [] };
      const recovered = await recoverFindings(task, checked, host);
      const record = recordOf([actionsOf(done), ...recovered.map((each) => each.record)]);
      for (const each of recovered) {
        if (!('why' in each)) continue;
        return failedWith(each.why, record, each.state === 'refused' ? 'Refused' : undefined);
      }
      const isPlanned = recovered.some(({ state }) => state === 'planned');
      return {
        succeeded: true,
        results: { [RECOVERED]: recoveredText(target, isPlanned) },
        record,
      };
    },
  },
];

function otherPod(key: string): OperationResult {
  return refusedWith(`${key} is not of the pod that the Diagnosis names`);
}

function recoveredText(target: string, isPlanned: boolean): string {
  if (isPlanned) return `Would umount ${target} on host; nothing was changed`;
  // The first word is spelt as every KubeDiag spells it: programs look for it.
  return `Succeesfully umount ${target} on host`;
}

/** Without empty lists. */
function recordOf(records: readonly StepRecord[]): StepRecord {
  const plannedActions = records.flatMap((each) => each.plannedActions ?? []);
  const actions = records.flatMap((each) => each.actions ?? []);
  return {
    ...(plannedActions.length > 0 ? { plannedActions } : {}),
    ...(actions.length > 0 ? { actions } : {}),
  };
}

// /var/lib/kubelet/pods/29da79e5-.../volume-subpaths/settings/app/1: pod 29da79e5-..., container app
function isSameContainer(left: string, right: string): boolean {
  const [leftPlace, rightPlace] = [left, right].map((path) => {
    const [, uid, , , container] = path.split('/').slice(-6);
    return `${uid}/${container}`;
  });
  return leftPlace === rightPlace;
}

function staleSubpathMount(): AnyFault {
  const fault = faults.find(({ processor }) => processor === 'subpathRemount');
  if (!fault) throw new Error('the fault of this step is not in the catalogue');
  return fault;
}

/**
 * Only active findings, each with the mount as its recovery would pin it: a container that still runs is left alone
 * until a person decides otherwise.
 */
function activeIn(fault: AnyFault, { findings }: Verdict) {
  return findings
    .filter(({ state }) => state === 'active')
    .flatMap((finding) => {
      const action = fault.recover?.(finding).actions.find(({ kind }) => kind === 'unmount');
      return action?.kind === 'unmount' ? [{ finding, mount: action }] : [];
    });
}

function otherwise(verdict: Verdict): string {
  const [finding] = verdict.findings;
  if (finding) return `${finding.state}: ${finding.summary}`;
  const [unknown] = verdict.unknowns;
  return unknown ? `it is not known: ${unknown.why}` : 'it has no subPath mount of a deleted file';
}
