import { LINT_POLICIES } from '../../src/pipeline/api/cluster-names.ts';
import { GROUP, VERSION } from '../../src/pipeline/api/kinds.ts';
import { processors } from '../../src/pipeline/operations/catalogue.ts';
import { removedProcessors } from '../../src/pipeline/operations/without-effect.ts';
import { type AdmissionPolicy, policyDocuments } from './admission-policy.ts';
import type { ManifestDocument } from './manifest-document.ts';

/** A power of two. API server v1.36.3 grants a policy the cost of 58 nodes, and not that of 64. */
const CHECKED_NODES_MAX = 32;
const DOUBLINGS = Math.log2(CHECKED_NODES_MAX);

/** What is stored is not checked again: its labels and finalizers can still be changed. */
const CHANGED = {
  name: 'changed',
  expression: 'oldObject == null || object.spec != oldObject.spec',
};

const positions = Array.from({ length: CHECKED_NODES_MAX }, (_, at) => at).join(', ');

/** reach1 has, for each node, the nodes to which it leads; reach2 those within two edges, and so on. */
function doubled(step: number) {
  const [from, to] = [2 ** step, 2 ** (step + 1)];
  const reach = `variables.reach${from}`;
  const isWithin = `j in ${reach}[i] || ${reach}[i].exists(k, j in ${reach}[k])`;
  const expression = `variables.nodes.map(i, variables.nodes.filter(j, ${isWithin}))`;
  return { name: `reach${to}`, expression };
}

const REACH = `variables.reach${CHECKED_NODES_MAX}`;
const named = (nodes: string) => `variables.${nodes}.map(i, string(i)).join(', ')`;

const graphs: AdmissionPolicy = {
  name: LINT_POLICIES.operationSets,
  comment:
    `A graph has no cycle and no unreachable node. One of more than ${CHECKED_NODES_MAX} nodes is not checked, because that\n` +
    'could exceed the cost limit of a policy: the status of its Diagnoses says what is wrong with it.',
  group: GROUP,
  version: VERSION,
  resources: ['operationsets'],
  failurePolicy: 'Ignore',
  matchConditions: [
    CHANGED,
    { name: 'size', expression: `size(object.spec.adjacencyList) <= ${CHECKED_NODES_MAX}` },
  ],
  variables: [
    { name: 'list', expression: 'object.spec.adjacencyList' },
    { name: 'nodes', expression: `[${positions}].filter(i, i < size(variables.list))` },
    {
      name: 'reach1',
      expression: 'variables.nodes.map(i, has(variables.list[i].to) ? variables.list[i].to : [])',
    },
    ...Array.from({ length: DOUBLINGS }, (_, step) => doubled(step)),
    { name: 'inCycle', expression: `variables.nodes.filter(i, i in ${REACH}[i])` },
    { name: 'unreachable', expression: `variables.nodes.filter(i, i > 0 && !(i in ${REACH}[0]))` },
  ],
  validations: [
    {
      expression: 'size(variables.inCycle) == 0',
      messageExpression: `'spec.adjacencyList: the graph has a cycle, nodes ' + ${named('inCycle')} + ': remove one of their edges from "to"'`,
      reason: 'Invalid',
    },
    {
      expression: 'size(variables.unreachable) == 0',
      messageExpression: `'spec.adjacencyList: unreachable from the start node: ' + ${named('unreachable')} + ': add each to the "to" of another node, or remove it'`,
      reason: 'Invalid',
    },
  ],
};

const knownPaths = [...processors.map(({ path }) => path), ...removedProcessors.keys()];
const PROCESSOR = 'object.spec.processor';
const isSet = (field: string) => `(has(${field}) && ${field} != '')`;

const operations: AdmissionPolicy = {
  name: LINT_POLICIES.operations,
  comment: 'An Operation that names no server names a processor that agents have.',
  group: GROUP,
  version: VERSION,
  resources: ['operations'],
  failurePolicy: 'Ignore',
  matchConditions: [
    CHANGED,
    {
      name: 'of-the-agent',
      expression: [
        `!has(${PROCESSOR}.scriptRunner) && !has(${PROCESSOR}.function)`,
        ...[`${PROCESSOR}.externalIP`, `${PROCESSOR}.externalAddress`].map((at) => `!${isSet(at)}`),
        `!has(${PROCESSOR}.externalPort)`,
        `!(has(${PROCESSOR}.httpServer) && (${isSet(`${PROCESSOR}.httpServer.address`)} || has(${PROCESSOR}.httpServer.port)))`,
      ].join(' && '),
    },
  ],
  variables: [
    {
      name: 'path',
      expression: `has(${PROCESSOR}.httpServer) ? ${PROCESSOR}.httpServer.path : (has(${PROCESSOR}.path) ? ${PROCESSOR}.path : '/')`,
    },
    { name: 'known', expression: `[${knownPaths.map((path) => `'${path}'`).join(', ')}]` },
  ],
  validations: [
    {
      expression: "variables.path.split('?')[0] in variables.known",
      messageExpression: `'spec.processor: the agent has no processor "' + variables.path + '", and no other server is named: choose one of "kubediag operations", or name your server in httpServer.address'`,
      reason: 'Invalid',
    },
  ],
};

/** The API server refuses what `kubediag lint` calls a problem and a CRD cannot check. */
export const authorPolicies: readonly ManifestDocument[] = [graphs, operations].flatMap(
  policyDocuments,
);
