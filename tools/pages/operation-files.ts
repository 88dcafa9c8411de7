import { stringify } from 'yaml';
import { API_VERSION } from '../../src/pipeline/api/kinds.ts';
import {
  type OwnOperationSet,
  ownOperationSets,
  processors,
} from '../../src/pipeline/operations/catalogue.ts';
import { OWN_TIMEOUT_SECONDS } from '../../src/pipeline/operations/limits.ts';

/** deploy/operations/*.yaml: the graph of each fault and its steps, to be applied to a cluster. */
export const operationFiles = ownOperationSets.map((set) => ({
  writes: `deploy/operations/${set.name}.yaml`,
  from: 'src/node/faults',
  make: () => [...operationsOf(set), setObject(set)].map((each) => stringify(each)).join('---\n'),
}));

function operationsOf({ adjacencyList }: OwnOperationSet): readonly object[] {
  return adjacencyList.slice(1).map(({ operation: name }) => {
    const own = processors.find(({ operation }) => operation === name);
    if (!own) throw new Error(`there is no processor of ours for ${name}`);
    // Without an address: the agent that runs the step.
    const httpServer = { path: own.path, scheme: 'http' };
    return {
      apiVersion: API_VERSION,
      kind: 'Operation',
      metadata: { name },
      spec: { processor: { httpServer, timeoutSeconds: OWN_TIMEOUT_SECONDS } },
    };
  });
}

function setObject({ name, adjacencyList }: OwnOperationSet): object {
  return {
    apiVersion: API_VERSION,
    kind: 'OperationSet',
    metadata: { name },
    spec: { adjacencyList },
  };
}
