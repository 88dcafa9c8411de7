import { stringify } from 'yaml';
import {
  type BuiltInManifest,
  builtInManifests,
} from '../../src/pipeline/operations/built-in-manifests.ts';
import { type OwnOperationSet, ownOperationSets } from '../../src/pipeline/operations/catalogue.ts';

/** deploy/operations/*.yaml: the graph of each fault and its steps, to read or to copy: the controller creates them. */
export const operationFiles = ownOperationSets.map((set) => ({
  writes: `deploy/operations/${set.name}.yaml`,
  from: 'src/node/faults',
  make: () =>
    manifestsOf(set)
      .map((each) => stringify(each))
      .join('---\n'),
}));

function manifestsOf({ name, adjacencyList }: OwnOperationSet): readonly BuiltInManifest[] {
  const steps = adjacencyList
    .slice(1)
    .map(({ operation = '' }) => manifest('Operation', operation));
  return [...steps, manifest('OperationSet', name)];
}

function manifest(kind: BuiltInManifest['kind'], name: string): BuiltInManifest {
  const found = builtInManifests.find((each) => each.kind === kind && each.metadata.name === name);
  if (!found) throw new Error(`there is no built-in ${kind} ${name}`);
  return found;
}
