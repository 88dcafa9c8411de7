/** The layers below src/, the lowest first: a module imports from its own layer and from lower ones. */
export const LAYERS = ['lib', 'node', 'pipeline', 'hosts'] as const;
export type Layer = (typeof LAYERS)[number];

/**
 * The modules below src/, and which modules and packages each may import. A new import between modules
 * is a decision: change it here and write a record in docs/decisions/.
 *
 * Planned modules are here too, so that their rules exist before their first file.
 */
export interface ModuleRules {
  readonly layer: Layer | undefined;
  readonly modules: readonly string[];
  readonly packages: readonly string[];
}

/** What a host that judges and repairs a node is made of. */
const ON_A_NODE = [
  'std',
  'go',
  'model',
  'reader',
  'recording',
  'evidence',
  'redaction',
  'faults',
  'checkup',
  'state',
  'repair',
];
/** What runs the graph of a Diagnosis, over whichever store. */
const DIAGNOSING = ['api', 'graph', 'triggers', 'store', 'operations', 'diagnosis'];

export const MODULES: Readonly<Record<string, ModuleRules>> = {
  std: { layer: 'lib', modules: [], packages: [] },
  process: { layer: 'lib', modules: ['std'], packages: [] },
  cri: { layer: 'lib', modules: ['std'], packages: ['@grpc/grpc-js', '@bufbuild/protobuf'] },
  terminal: { layer: 'lib', modules: ['std'], packages: [] },
  go: { layer: 'lib', modules: ['std'], packages: ['@bufbuild/protobuf'] },
  reader: { layer: 'node', modules: ['std', 'process', 'cri', 'go', 'model'], packages: [] },
  model: { layer: 'node', modules: ['std', 'go'], packages: [] },
  recording: { layer: 'node', modules: ['std', 'go', 'model'], packages: [] },
  evidence: { layer: 'node', modules: ['std', 'go', 'model'], packages: ['yaml', 'zod'] },
  redaction: {
    layer: 'node',
    modules: ['std', 'go', 'model', 'recording', 'evidence'],
    packages: [],
  },
  faults: { layer: 'node', modules: ['std', 'go', 'model', 'evidence'], packages: [] },
  checkup: {
    layer: 'node',
    modules: ['std', 'model', 'recording', 'evidence', 'faults'],
    packages: [],
  },
  examine: { layer: 'node', modules: ['std', 'go', 'reader', 'model', 'evidence'], packages: [] },
  state: { layer: 'lib', modules: ['std'], packages: [] },
  repair: {
    layer: 'node',
    modules: ['std', 'process', 'cri', 'reader', 'model', 'evidence', 'state'],
    packages: [],
  },

  trace: {
    layer: 'node',
    modules: ['std', 'process', 'go', 'model', 'reader', 'evidence'],
    packages: [],
  },

  api: { layer: 'pipeline', modules: ['std'], packages: ['zod'] },
  graph: { layer: 'pipeline', modules: ['std', 'api'], packages: [] },
  triggers: { layer: 'pipeline', modules: ['std', 'api'], packages: ['re2js'] },
  kube: {
    layer: 'pipeline',
    modules: ['std', 'api', 'store'],
    packages: ['@kubernetes/client-node'],
  },
  operations: { layer: 'pipeline', modules: [...ON_A_NODE, 'process', 'api'], packages: [] },
  store: { layer: 'pipeline', modules: ['std', 'state', 'api', 'graph'], packages: [] },
  diagnosis: {
    layer: 'pipeline',
    modules: ['std', 'state', 'api', 'graph', 'store', 'operations'],
    packages: [],
  },

  'local-node': { layer: 'hosts', modules: [...ON_A_NODE, 'operations'], packages: [] },

  cli: {
    layer: 'hosts',
    modules: [...ON_A_NODE, 'terminal', 'local-node', 'examine', 'trace', ...DIAGNOSING],
    packages: ['commander', 'yaml'],
  },
  agent: {
    layer: 'hosts',
    modules: [...ON_A_NODE, 'local-node', ...DIAGNOSING, 'kube', 'web'],
    packages: [],
  },
  controller: {
    layer: 'hosts',
    modules: ['std', 'api', 'graph', 'store', 'kube'],
    packages: ['commander', 'croner'],
  },
  kubectl: { layer: 'hosts', modules: ['std', 'api', 'kube'], packages: ['commander', 'yaml'] },
  web: {
    layer: 'hosts',
    modules: ['std', 'api', 'graph', 'triggers', 'store', 'diagnosis'],
    packages: [],
  },
  console: {
    layer: 'hosts',
    modules: ['std', 'api', 'graph', 'model', 'evidence', 'faults'],
    packages: ['react', 'react-dom', '@tanstack/react-query', 'wouter'],
  },
  lab: {
    layer: undefined,
    modules: ['std', 'process', 'cri', 'terminal'],
    packages: ['@grpc/grpc-js', '@bufbuild/protobuf'],
  },

  main: {
    layer: undefined,
    modules: ['std', 'reader', 'repair', 'trace', 'cli', 'agent', 'controller', 'kubectl', 'lab'],
    packages: [],
  },
};

/** Where a module lives: "src/node/faults", "lab". */
export function folderOf(name: string): string {
  const layer = MODULES[name]?.layer;
  return layer === undefined ? name : `src/${layer}/${name}`;
}

/** Judgement runs anywhere, a browser included: no Node core module, and nothing that has one. */
export const PURE_MODULES: readonly string[] = [
  'std',
  'go',
  'model',
  'recording',
  'evidence',
  'redaction',
  'faults',
  'checkup',
  'examine',
  'graph',
  'triggers',
  'api',
  'console',
];

/** Modules that must never be reached, through any number of other modules. */
export const UNREACHABLE: Readonly<Record<string, readonly string[]>> = {
  cli: ['kube'],
  controller: ['reader', 'repair'],
  kubectl: ['reader', 'repair'],
};

/** The modules that decide which node is checked: this one, or a recorded one. */
export const CHOOSES_A_NODE: readonly string[] = ['reader', 'local-node', 'cli', 'agent'];

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
