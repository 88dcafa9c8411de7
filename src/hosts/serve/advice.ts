import { isNearly } from '../../lib/std/is-nearly.ts';
import type { DiagnosisSpec } from '../../pipeline/api/diagnosis.ts';
import type { GraphNode } from '../../pipeline/api/operation-set.ts';
import type { OperationLookup } from '../../pipeline/diagnosis/operation-lookup.ts';
import { targetOfOnlyNode } from '../../pipeline/diagnosis/target.ts';
import { leftOutOn } from '../../pipeline/graph/left-out.ts';
import { ownOperationSets } from '../../pipeline/operations/catalogue.ts';
import type { NewObject } from '../../pipeline/store/store.ts';
import { UNSUPPORTED_SOURCES } from '../../pipeline/triggers/trigger-event.ts';

/** Warnings about a valid object that may not do what its author expects. */
export function adviceFor(lookup: OperationLookup, nodeName: () => string) {
  return async ({ kind, spec }: NewObject): Promise<readonly string[]> => {
    if (kind === 'OperationSet') {
      const nodes = spec.adjacencyList as readonly GraphNode[];
      return missingOperations(nodes, lookup, 'before a Diagnosis');
    }
    if (kind === 'Trigger') {
      const missing = await missingSet(spec, lookup, 'before an alert comes');
      return [...missing, ...notTakenIn(spec)];
    }
    if (kind !== 'Diagnosis') return [];
    const until = 'within a minute';
    const set = await lookup.set(String(spec.operationSet));
    const missing =
      set.state === 'ready'
        ? await missingOperations(set.paths.flat(), lookup, until)
        : await missingSet(spec, lookup, until);
    return [...missing, ...otherNode(spec, nodeName())];
  };
}

function notTakenIn({ sourceTemplate }: NewObject['spec']): readonly string[] {
  const given = sourceTemplate as object;
  const source = UNSUPPORTED_SOURCES.find((each) => each in given);
  if (source === undefined) return [];
  const text = `${source} is not supported by this agent and creates no Diagnosis`;
  return [`${text}: use an alert or a common event instead`];
}

async function missingOperations(
  nodes: readonly GraphNode[],
  { operation }: OperationLookup,
  until: string,
): Promise<readonly string[]> {
  const names = new Set(nodes.flatMap(({ operation: name }) => name || []));
  const missing = await Promise.all(
    [...names].map(async (name) => ((await operation(name)).state === 'ready' ? [] : [name])),
  );
  return missing.flat().map((name) => `Operation "${name}" does not exist yet: apply it ${until}`);
}

async function missingSet(
  { operationSet }: NewObject['spec'],
  { set }: OperationLookup,
  until: string,
): Promise<readonly string[]> {
  const { state } = await set(String(operationSet));
  if (state !== 'missing') return [];
  const name = String(operationSet);
  const near = ownOperationSets.find((own) => isNearly(own.name, name))?.name;
  const hint = near === undefined ? '' : `did you mean "${near}"? Otherwise `;
  return [`OperationSet "${name}" does not exist yet: ${hint}apply it ${until}`];
}

function otherNode(spec: NewObject['spec'], here: string): readonly string[] {
  const { nodeName } = spec;
  if (targetOfOnlyNode(spec as DiagnosisSpec, here).state === 'here') {
    const leftOut = leftOutOn(here, spec as DiagnosisSpec);
    return leftOut === undefined ? [] : [`not diagnosed here: ${leftOut}`];
  }
  const named = typeof nodeName === 'string' ? `node ${nodeName}` : 'the target';
  const text = `${named}: not this node (this is ${here}); the Diagnosis fails after a minute`;
  return [`${text}. If that is another name of this node, start serve with --node-name`];
}
