import { UsageError } from '../../../lib/terminal/terminal.ts';
import { checkResource, type Resource } from '../../../pipeline/api/check-resource.ts';
import type { GraphNode } from '../../../pipeline/api/operation-set.ts';
import { placeText } from '../../../pipeline/api/problem.ts';
import { type Processor, processorOf } from '../../../pipeline/api/processor-of.ts';
import type { FieldValidation } from '../../../pipeline/api/unknown-fields.ts';
import { targetOfOnlyNode } from '../../../pipeline/diagnosis/target.ts';
import { adjacencyHash } from '../../../pipeline/graph/adjacency-hash.ts';
import type { SeenSet } from '../../../pipeline/graph/decide-next.ts';
import { refusedTargets } from '../../../pipeline/graph/left-out.ts';
import { pathsOf } from '../../../pipeline/graph/paths.ts';
import { ownOperationSets, ownOperations } from '../../../pipeline/operations/catalogue.ts';
import { ownProcessor } from '../../../pipeline/operations/run-operation.ts';
import type { ManifestFile } from './manifests-given.ts';
import { parseManifests } from './parse-manifests.ts';

type Of<K extends Resource['kind']> = Extract<Resource, { readonly kind: K }>;

export interface PlannedDiagnosis extends Pick<Of<'Diagnosis'>, 'metadata' | 'spec'> {
  readonly set: SeenSet & { readonly state: 'ready' };
}

/** All that is to be run, from manifests that have no problems. */
export interface RunPlan {
  readonly diagnoses: readonly PlannedDiagnosis[];
  /** By name: those of the manifests, and our own where they define none. */
  readonly operations: ReadonlyMap<string, Processor>;
}

export function runPlan(
  files: readonly ManifestFile[],
  parameters: Readonly<Record<string, string>>,
  validation: FieldValidation = 'Strict',
): RunPlan {
  const resources = files
    .flatMap(({ text }) => parseManifests(text).objects)
    .flatMap(({ value }) => checkResource(value, validation).resource ?? []);
  const operations = new Map<string, Processor>(ownOperations);
  const sets = new Map<string, readonly GraphNode[]>(
    ownOperationSets.map(({ name, adjacencyList }) => [name, adjacencyList]),
  );
  for (const each of resources) {
    const { name = '' } = each.metadata;
    if (each.kind === 'Operation') operations.set(name, processorOf(each.spec));
    if (each.kind === 'OperationSet') sets.set(name, each.spec.adjacencyList);
  }
  const diagnoses = resources
    .filter((each) => each.kind === 'Diagnosis')
    .map((each) => planned(each, sets, parameters));
  if (diagnoses.length === 0)
    throw new UsageError('there is nothing to run: no Diagnosis is given');
  return { diagnoses, operations };
}

function planned(
  { metadata, spec }: Of<'Diagnosis'>,
  sets: ReadonlyMap<string, readonly GraphNode[]>,
  parameters: Readonly<Record<string, string>>,
): PlannedDiagnosis {
  const adjacencyList = sets.get(spec.operationSet);
  if (!adjacencyList) {
    const own = [...sets.keys()].join(', ');
    throw new UsageError(
      `OperationSet "${spec.operationSet}" is not among the files given; there are ${own}`,
    );
  }
  const all = { ...spec.parameters, ...parameters };
  return {
    metadata,
    spec: Object.keys(all).length === 0 ? spec : { ...spec, parameters: all },
    set: { state: 'ready', hash: adjacencyHash(adjacencyList), paths: pathsOf(adjacencyList) },
  };
}

/** The first step of ours in any path that may change the node. */
export function repairIn({ diagnoses, operations }: RunPlan): string | undefined {
  const steps = diagnoses.flatMap(({ set }) => set.paths.flat());
  return steps.find(({ operation = '' }) => {
    const processor = operations.get(operation);
    return processor && ownProcessor(processor)?.repairs;
  })?.operation;
}

/** The node that a Diagnosis is about, when it is this one. */
export function targetOf({ spec }: PlannedDiagnosis, here: string): string {
  const [refused] = refusedTargets(spec);
  if (refused) throw new UsageError(`${placeText(refused.place)}: ${refused.what}: ${refused.fix}`);
  if (targetOfOnlyNode(spec, here).state === 'here') return here;
  const { nodeName, targetSelector = {} } = spec;
  const named = nodeName ? [nodeName] : (targetSelector.nodeNames ?? []);
  if (named.length === 0 || (!nodeName && targetSelector.nodeSelector)) {
    throw new UsageError('only a cluster knows which nodes a selector means; use spec.nodeName');
  }
  throw new UsageError(
    `it is for node ${named.slice(0, 3).join(', ')}, and this is ${here}; ` +
      'if that is another name of this one, give it with --node-name',
  );
}

/** "key=value" as `--set` takes it. */
export function parametersIn(args: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    args.map((word) => {
      const at = word.indexOf('=');
      if (at < 1) throw new UsageError(`--set takes KEY=VALUE, not "${word}"`);
      return [word.slice(0, at), word.slice(at + 1)];
    }),
  );
}
