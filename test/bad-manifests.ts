const apiVersion = 'diagnosis.kubediag.org/v1';
const fixture = (kind: string, spec: object, name = 'one') => ({
  apiVersion,
  kind,
  metadata: { name },
  spec,
});
const operation = (processor: object) => fixture('Operation', { processor });
const diagnosis = (spec: object) => fixture('Diagnosis', { operationSet: 'set', ...spec });
const trigger = (spec: object) => fixture('Trigger', { operationSet: 'set', ...spec });
const script = { scriptRunner: { script: '' } };

/** Manifests that neither we nor an API server accept: name, object, part of our message. */
export const badManifests: readonly (readonly [string, unknown, string])[] = [
  ['no object', 'text', ': not an object: start with apiVersion and kind'],
  ['no kind', { apiVersion }, ': kind is missing'],
  [
    'a mistyped kind',
    fixture('Operations', {}),
    'kind: there is no kind "Operations": did you mean "Operation"?',
  ],
  [
    'a kind that is none',
    fixture('Pod', {}),
    'kind: there is no kind "Pod": use one of Operation,',
  ],
  [
    'another ending of the group',
    { ...operation(script), apiVersion: 'diagnosis.kubediag.io/v1' },
    'apiVersion: there is no such API group: write "diagnosis.kubediag.org/v1"',
  ],
  [
    'a mistyped group',
    { ...operation(script), apiVersion: 'diagnosis.kubdiag.org/v1' },
    'apiVersion: there is no such API group: write "diagnosis.kubediag.org/v1"',
  ],
  [
    'another version',
    { ...operation(script), apiVersion: 'diagnosis.kubediag.org/v2' },
    'apiVersion: there is no such version: write',
  ],
  ['no name', { ...operation(script), metadata: {} }, 'metadata.name: missing'],
  [
    'no metadata',
    { apiVersion, kind: 'Operation', spec: { processor: script } },
    'metadata: missing: set it to an object',
  ],
  [
    'a name with capitals',
    { ...operation(script), metadata: { name: 'One' } },
    'metadata.name: not a valid name of a Kubernetes object',
  ],
  ['no spec', { apiVersion, kind: 'Operation', metadata: { name: 'a' } }, 'spec: missing'],
  [
    'no way to run it',
    operation({ timeoutSeconds: 5 }),
    'spec.processor: the processor has no way to run: set httpServer, scriptRunner or function',
  ],
  [
    'two ways',
    operation({ ...script, httpServer: {} }),
    'spec.processor: the processor has more than one way to run',
  ],
  [
    'the flat form beside another',
    operation({ ...script, path: '/' }),
    'has more than one way to run',
  ],
  [
    'a port too large',
    operation({ httpServer: { port: 65_536 } }),
    'spec.processor.httpServer.port: 65536 is out of range: write a number of at most 65535',
  ],
  ['no time', operation({ ...script, timeoutSeconds: 0 }), 'write a number of at least 1'],
  [
    'half a second',
    operation({ ...script, timeoutSeconds: 0.5 }),
    'not an integer, must be an integer',
  ],
  [
    'a scheme',
    operation({ httpServer: { scheme: 'ftp' } }),
    '"ftp" is not a known value: use "http" or "https"',
  ],
  ['a path', operation({ path: 'a' }), 'spec.processor.path: does not start with "/"'],
  [
    'an address with a port',
    operation({ httpServer: { address: 'http://a:80' } }),
    'write the host alone',
  ],
  [
    'an IP that is none',
    operation({ externalIP: '10.0.0.256' }),
    'spec.processor.externalIP: not an IP address',
  ],
  [
    'a file outside',
    operation({ function: { codeSource: { '../a.py': '' }, runtime: 'Python3' } }),
    'codeSource: a file name could lead out of the directory',
  ],
  [
    'a short graph',
    fixture('OperationSet', { adjacencyList: [{}] }),
    'spec.adjacencyList: 1 entry: use at least 2',
  ],
  [
    'an empty graph',
    fixture('OperationSet', { adjacencyList: [] }),
    'spec.adjacencyList: 0 entries: use at least 2',
  ],
  [
    'no node',
    diagnosis({ nodeName: '' }),
    'spec: no target: set nodeName, podReference or targetSelector',
  ],
  [
    'no set',
    fixture('Diagnosis', { nodeName: 'a' }),
    'spec.operationSet: missing: set it to a string',
  ],
  [
    'an unquoted number',
    diagnosis({ nodeName: 'a', parameters: { 'param.size': 5 } }),
    'spec.parameters["param.size"]: a number, must be a string: quote it: "5"',
  ],
  [
    'an unknown way to recover',
    diagnosis({ nodeName: 'a', recovery: 'Maybe' }),
    'spec.recovery: "Maybe" is not a known value',
  ],
  [
    'a way to recover in other letters',
    diagnosis({ nodeName: 'a', recovery: 'approval' }),
    'spec.recovery: "approval" is not a known value: did you mean "Approval"?',
  ],
  ['no source', trigger({ sourceTemplate: {} }), 'spec.sourceTemplate: no event source'],
  [
    'a schedule of four fields',
    trigger({ nodeName: 'a', sourceTemplate: { cronTemplate: { schedule: '* * * *' } } }),
    'not a cron schedule',
  ],
  [
    'a schedule without a node',
    trigger({ sourceTemplate: { cronTemplate: { schedule: '@hourly' } } }),
    'spec: a schedule without a node',
  ],
  [
    'an event without a severity',
    fixture('CommonEvent', { summary: 'a', source: 'b' }),
    'spec.severity: missing',
  ],
];
