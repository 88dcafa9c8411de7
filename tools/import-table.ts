/** The layers below src/, the lowest first: a module imports from its own layer and from lower ones. */
export const LAYERS = ['lib', 'node', 'pipeline', 'hosts'] as const;
export type Layer = (typeof LAYERS)[number];

/**
 * One module and what it may import: other modules, and npm packages. To allow another import is a
 * decision: change it here and write a record in docs/decisions/. `npm run generate` draws the
 * diagram in ARCHITECTURE.md from this table.
 */
export interface ModuleRules {
  /** The directory in src/; undefined for lab/ and src/main.ts. */
  readonly layer: Layer | undefined;
  readonly does: string;
  readonly imports: readonly string[];
  readonly packages?: readonly string[];
  /** Runs anywhere, a browser included: imports no module of Node, nor code that does. */
  readonly pure?: true;
}

const DIAGNOSES = ['api', 'graph', 'triggers', 'store', 'steps', 'diagnosis'];

/** In the order in which they build on each other. A module without a directory is not built yet. */
export const MODULES: Readonly<Record<string, ModuleRules>> = {
  std: {
    layer: 'lib',
    does: 'small functions that any program could use',
    imports: [],
    pure: true,
  },
  go: {
    layer: 'lib',
    does: 'reads goroutine dumps, CPU profiles and symbols of Go programs',
    imports: ['std'],
    packages: ['@bufbuild/protobuf'],
    pure: true,
  },
  process: {
    layer: 'lib',
    does: 'starts child processes with a time limit; can abandon one that hangs',
    imports: ['std'],
  },
  cri: {
    layer: 'lib',
    does: 'calls a container runtime over its socket',
    imports: [],
    packages: ['@grpc/grpc-js', '@bufbuild/protobuf'],
  },
  state: {
    layer: 'lib',
    does: 'the state directory on the node: private, synced, locked',
    imports: ['std'],
  },
  terminal: {
    layer: 'lib',
    does: 'writes to a terminal, asks for consent, handles Ctrl-C, exit codes',
    imports: ['std'],
  },

  model: {
    layer: 'node',
    does: 'the types: questions to a node, evidence, fault, finding, verdict, action, outcome',
    imports: ['std', 'go'],
    pure: true,
  },
  reader: {
    layer: 'node',
    does: 'reads the live node through disposable child processes, each read with a time limit',
    imports: ['std', 'process', 'cri', 'go', 'model'],
  },
  recording: {
    layer: 'node',
    does: 'records answers of a node, packs them into a bundle, answers from a bundle',
    imports: ['std', 'go', 'model'],
    pure: true,
  },
  evidence: {
    layer: 'node',
    does: 'turns answers of a node into typed records: mounts, pods, kubelet, logs',
    imports: ['std', 'go', 'model'],
    packages: ['yaml'],
    pure: true,
  },
  redaction: {
    layer: 'node',
    does: 'removes private data from answers before they leave the node',
    imports: ['std', 'go', 'model', 'recording', 'evidence'],
    pure: true,
  },
  faults: {
    layer: 'node',
    does: 'one directory per fault: diagnose and plan the repair',
    imports: ['std', 'model', 'evidence'],
    pure: true,
  },
  checkup: {
    layer: 'node',
    does: 'collects evidence, asks every fault for its verdict, makes the report',
    imports: ['std', 'model', 'recording', 'evidence', 'faults'],
    pure: true,
  },
  examine: {
    layer: 'node',
    does: 'turns texts that somebody sent into evidence',
    imports: ['std', 'go', 'model', 'evidence'],
    pure: true,
  },
  trace: {
    layer: 'node',
    does: 'watches with bpftrace which process deletes files',
    imports: ['std', 'process', 'go', 'model', 'reader', 'evidence'],
  },
  repair: {
    layer: 'node',
    does: 'performs actions: the only module that changes a node',
    imports: ['std', 'process', 'cri', 'state', 'model', 'reader', 'evidence'],
  },

  api: {
    layer: 'pipeline',
    does: 'the resources Operation, OperationSet, Diagnosis, Trigger, CommonEvent, NodeReport, RecoveryPolicy: schemas and CRDs',
    imports: ['std'],
    packages: ['zod'],
    pure: true,
  },
  graph: {
    layer: 'pipeline',
    does: 'validates an OperationSet and decides the next step of a Diagnosis',
    imports: ['std', 'api'],
    pure: true,
  },
  recovery: {
    layer: 'pipeline',
    does: 'decides whether a node may be repaired now: policy, maintenance windows, failures',
    imports: ['std', 'api'],
    packages: ['croner'],
    pure: true,
  },
  triggers: {
    layer: 'pipeline',
    does: 'matches alerts and events with Triggers and makes Diagnoses',
    imports: ['std', 'api'],
    packages: ['re2js'],
    pure: true,
  },
  store: {
    layer: 'pipeline',
    does: 'stores objects and streams their changes; on SQLite today',
    imports: ['std', 'state', 'api', 'graph'],
  },
  kube: {
    layer: 'pipeline',
    does: 'the store on a Kubernetes API server',
    imports: ['std', 'api', 'store'],
    packages: ['yaml'],
  },
  steps: {
    layer: 'pipeline',
    does: 'a step of a Diagnosis as data: input, result, plan; runs the steps that ask another server',
    imports: ['std', 'model', 'evidence', 'redaction', 'checkup', 'api'],
  },
  operations: {
    layer: 'pipeline',
    does: 'runs the steps of this node: script, function, or a built-in processor',
    imports: [
      ...['std', 'go', 'process', 'state'],
      ...['model', 'evidence', 'redaction', 'faults', 'checkup', 'repair'],
      ...['api', 'steps'],
    ],
  },
  diagnosis: {
    layer: 'pipeline',
    does: 'drives each Diagnosis through its graph, step by step',
    imports: ['std', 'state', 'api', 'graph', 'store', 'steps'],
  },
  channel: {
    layer: 'pipeline',
    does: 'the messages between agent and executor, and the Unix socket that carries them',
    imports: ['std', 'api', 'steps', 'diagnosis'],
    packages: ['zod'],
  },

  'local-node': {
    layer: 'hosts',
    does: 'what cli and serve share: opens the node, saves bundles, gives both to a step',
    imports: [
      ...['state', 'model', 'reader', 'recording', 'evidence', 'redaction', 'faults'],
      ...['checkup', 'repair', 'operations'],
    ],
  },
  web: {
    layer: 'hosts',
    does: 'the HTTP server of the agent: objects, processors, alerts, metrics',
    imports: ['std', 'api', 'graph', 'triggers', 'store'],
  },
  serve: {
    layer: 'hosts',
    does: '`kubediag serve`: an agent with a store of its own, runs Diagnoses on this node',
    imports: ['std', 'state', 'model', ...DIAGNOSES, 'operations', 'local-node', 'web'],
  },
  agent: {
    layer: 'hosts',
    does: 'the agent of a cluster: runs the Diagnoses of a cluster on this node; touches nothing of the node itself',
    imports: ['std', 'kube', 'channel', 'api', 'recovery', 'store', 'steps', 'diagnosis', 'web'],
  },
  executor: {
    layer: 'hosts',
    does: 'the executor of a cluster: checks and repairs this node for the agent; has no credential and does not listen',
    imports: [
      ...['std', 'state', 'model', 'evidence', 'faults', 'checkup', 'repair'],
      ...['api', 'steps', 'operations', 'diagnosis', 'channel', 'local-node'],
    ],
    packages: ['zod'],
  },
  cli: {
    layer: 'hosts',
    does: 'the command line',
    imports: [
      ...['std', 'go', 'state', 'terminal'],
      ...['model', 'reader', 'recording', 'evidence', 'faults', 'checkup', 'examine', 'trace'],
      ...['repair', ...DIAGNOSES, 'operations', 'local-node'],
    ],
    packages: ['commander', 'yaml'],
  },
  controller: {
    layer: 'hosts',
    does: 'the controller of a cluster: gives Diagnoses to nodes, limits repairs, and runs steps that need rights of its own',
    imports: ['std', 'api', 'graph', 'recovery', 'store', 'kube', 'steps', 'diagnosis', 'web'],
  },
  kubectl: {
    layer: 'hosts',
    does: 'the kubectl plugin',
    imports: ['std', 'api', 'kube'],
    packages: ['commander', 'yaml'],
  },
  console: {
    layer: 'hosts',
    does: 'the web page of an agent; replays bundles in the browser',
    imports: ['std', 'model', 'recording', 'evidence', 'faults', 'checkup', 'api', 'graph'],
    packages: ['react', 'react-dom', '@tanstack/react-query', 'wouter'],
    pure: true,
  },

  lab: {
    layer: undefined,
    does: 'a practice node: creates most faults in private namespaces and removes them',
    imports: ['std', 'process', 'cri', 'terminal'],
    packages: ['@grpc/grpc-js', '@bufbuild/protobuf'],
  },
  main: {
    layer: undefined,
    does: 'the executable: loads the one host or child process that is asked for',
    imports: [
      'std',
      'reader',
      'trace',
      'repair',
      'serve',
      'agent',
      'executor',
      'cli',
      'controller',
      'kubectl',
      'lab',
    ],
  },
};

/** Where a module lives: "src/node/faults", "lab". */
export function folderOf(name: string): string {
  const layer = MODULES[name]?.layer;
  return layer === undefined ? name : `src/${layer}/${name}`;
}

const NODE_MODULES = Object.keys(MODULES).filter((name) => MODULES[name]?.layer === 'node');

/** What reads or changes a node, apart from the pure modules that judge what was read. */
const TOUCHES_NODE = ['reader', 'repair', 'trace', 'operations', 'local-node', 'executor'];

/** Modules that must never be reached, through any number of other modules. */
export const UNREACHABLE: Readonly<Record<string, readonly string[]>> = {
  cli: ['kube'],
  // What talks to clients and to an API server never touches a node.
  store: NODE_MODULES,
  kube: NODE_MODULES,
  web: NODE_MODULES,
  // What can be reached from the network cannot touch the node, and the other way round.
  agent: TOUCHES_NODE,
  channel: [...TOUCHES_NODE, 'kube', 'web'],
  executor: ['kube', 'web', 'agent'],
  controller: TOUCHES_NODE,
  kubectl: NODE_MODULES,
};

/** The modules that may open the live node; all others take a NodeReader as an argument. */
export const OPENS_LIVE_NODE: readonly string[] = ['reader', 'local-node', 'cli'];

// src/node/reader/live-node.ts
export const LIVE_NODE = /^src\/node\/reader\/live-node[.]ts$/;

// src/node/repair/node-writer.ts, src/node/repair/live-writer.ts, src/node/repair/file-journal.ts, src/lib/cri/commands.ts
export const WRITER =
  /^src\/(node\/repair\/((node|live)-writer|file-journal)|lib\/cri\/commands)[.]ts$/;

// src/node/reader/live-node.ts, src/node/reader/answerer.ts, src/node/repair/live-writer.ts, src/node/trace/tracer.ts
export const USES_PROCESSES =
  /^(src\/(node\/(reader\/(live-|reader|answerer)[a-z-]*[.]ts|repair\/(live-writer|end-strays)[.]ts|trace\/(tracer|start-tracer|name-stack)[.]ts)|lib\/process\/.+|pipeline\/operations\/.+)|lab\/.+)$/;

/** The Node core modules that start processes. */
export const STARTS_PROCESSES: readonly string[] = ['child_process', 'cluster'];

/** Names by which a module is loaded without an import, so that no rule would see it. */
export const LOADS_UNSEEN: readonly string[] = ['getBuiltinModule', 'createRequire', 'dlopen'];

// src/node/reader/reader.ts, src/node/reader/reader-main.ts
export const READER = /^src\/node\/reader\/reader[a-z-]*[.]ts$/;
