import { API_VERSION } from '../src/pipeline/api/kinds.ts';

/** Objects as a person writes them. */
export function object(kind: string, name: string, spec: object) {
  return { apiVersion: API_VERSION, kind, metadata: { name }, spec };
}

/** The OperationSet "set": one Operation after another. */
export function chain(...operations: readonly string[]) {
  const steps = operations.map((operation, at) =>
    at + 1 < operations.length ? { operation, to: [at + 2] } : { operation },
  );
  return object('OperationSet', 'set', { adjacencyList: [{ to: [1] }, ...steps] });
}

/** A Diagnosis of it. */
export function diagnosis(name: string, spec: object = {}) {
  return object('Diagnosis', name, { operationSet: 'set', nodeName: 'my-node', ...spec });
}
