/**
 * The rooms below src/, which rooms each may import and which packages. A new arrow between rooms
 * is a decision: change it here and write a record in docs/decisions/.
 *
 * Rooms that are not built yet stand here too, so that their walls are up before their first file.
 */
export interface Room {
  readonly rooms: readonly string[];
  readonly packages: readonly string[];
}

/** What a host that judges and repairs a node is made of. */
const ON_A_NODE = [
  'std',
  'go',
  'model',
  'node',
  'evidence',
  'faults',
  'checkup',
  'state',
  'repair',
];
/** What runs the graph of a Diagnosis, over whichever store. */
const DIAGNOSING = ['api', 'graph', 'triggers', 'operations', 'diagnosis'];

export const ROOMS: Readonly<Record<string, Room>> = {
  std: { rooms: [], packages: [] },
  process: { rooms: ['std'], packages: [] },
  cri: { rooms: ['std'], packages: ['@grpc/grpc-js', '@bufbuild/protobuf'] },
  go: { rooms: ['std'], packages: [] },
  node: { rooms: ['std', 'process', 'cri', 'go'], packages: [] },
  model: { rooms: ['std', 'node'], packages: [] },
  evidence: { rooms: ['std', 'go', 'node', 'model'], packages: ['yaml', 'zod'] },
  faults: { rooms: ['std', 'go', 'model', 'evidence'], packages: [] },
  checkup: { rooms: ['std', 'node', 'model', 'evidence', 'faults'], packages: [] },
  examine: { rooms: ['std', 'go', 'node', 'model', 'evidence'], packages: [] },
  state: { rooms: ['std', 'model'], packages: [] },
  repair: { rooms: ['std', 'process', 'cri', 'node', 'model', 'evidence', 'state'], packages: [] },

  trace: { rooms: ['std', 'process', 'go', 'node', 'evidence'], packages: [] },

  api: { rooms: ['std'], packages: ['zod'] },
  graph: { rooms: ['std', 'api'], packages: [] },
  triggers: { rooms: ['std', 'api'], packages: ['re2js'] },
  kube: { rooms: ['std', 'api'], packages: ['@kubernetes/client-node'] },
  operations: { rooms: [...ON_A_NODE, 'process', 'api'], packages: [] },
  diagnosis: { rooms: ['std', 'state', 'api', 'graph', 'operations'], packages: [] },

  host: { rooms: [...ON_A_NODE, 'operations'], packages: [] },

  cli: {
    rooms: [...ON_A_NODE, 'host', 'examine', 'trace', ...DIAGNOSING],
    packages: ['commander', 'yaml'],
  },
  agent: { rooms: [...ON_A_NODE, 'host', ...DIAGNOSING, 'kube', 'web'], packages: [] },
  controller: { rooms: ['std', 'api', 'graph', 'kube'], packages: ['commander', 'croner'] },
  kubectl: { rooms: ['std', 'api', 'kube'], packages: ['commander', 'yaml'] },
  web: { rooms: ['std', 'api', 'graph', 'triggers', 'diagnosis'], packages: [] },
  console: {
    rooms: ['std', 'api', 'graph', 'model', 'evidence', 'faults'],
    packages: ['react', 'react-dom', '@tanstack/react-query', 'wouter'],
  },
  lab: { rooms: ['std', 'process', 'cri'], packages: ['@grpc/grpc-js', '@bufbuild/protobuf'] },

  main: {
    rooms: ['std', 'node', 'repair', 'trace', 'cli', 'agent', 'controller', 'kubectl', 'lab'],
    packages: [],
  },
};

/** Judgement runs anywhere, a browser included: no Node core module, and nothing that has one. */
export const PURE_ROOMS: readonly string[] = [
  'std',
  'go',
  'model',
  'evidence',
  'faults',
  'examine',
  'graph',
  'triggers',
  'api',
  'console',
];

/** The part of `node` that is only language; the rest of that room does the reading. */
export const PURE_FILES: readonly string[] = [
  'src/node/node-reader.ts',
  'src/node/attempt.ts',
  'src/node/reader-name.ts',
  'src/node/thread.ts',
];

/** Rooms that may never be reached, through however many other rooms. */
export const UNREACHABLE: Readonly<Record<string, readonly string[]>> = {
  cli: ['kube'],
  controller: ['node', 'repair'],
  kubectl: ['node', 'repair'],
};

/** The rooms that decide which node is looked at: this one, or a recorded one. */
export const CHOOSES_A_WORLD: readonly string[] = ['node', 'host', 'cli', 'agent'];

// src/node/live-node.ts, src/node/recorded-node.ts
export const WORLD = /^src\/node\/(live|recorded|recording|failing)-node[.]ts$/;

// src/repair/node-writer.ts, src/repair/live-writer.ts, src/repair/file-journal.ts, src/cri/commands.ts
export const WRITER = /^src\/(repair\/((node|live)-writer|file-journal)|cri\/commands)[.]ts$/;

// src/node/live-node.ts, src/node/answerer.ts, src/repair/live-writer.ts, src/trace/tracer.ts
export const USES_PROCESSES =
  /^src\/(node\/(live-|reader|answerer)[a-z-]*[.]ts|repair\/(live-writer|end-strays)[.]ts|trace\/(tracer|start-tracer|name-stack)[.]ts|(process|operations|lab)\/.+)$/;

/** The Node core modules that start processes. */
export const STARTS_PROCESSES: readonly string[] = ['child_process', 'cluster'];

/** Names by which a module is loaded past every import, so that no wall would see it. */
export const LOADS_UNSEEN: readonly string[] = ['getBuiltinModule', 'createRequire', 'dlopen'];

// src/node/reader.ts, src/node/reader-main.ts
export const READER = /^src\/node\/reader[a-z-]*[.]ts$/;
