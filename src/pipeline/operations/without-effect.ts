import { isNearly } from '../../lib/std/is-nearly.ts';
import type { Resource } from '../api/check-resource.ts';
import type { OperationSpec } from '../api/operation.ts';
import type { GraphNode } from '../api/operation-set.ts';
import { note, type Problem, problem } from '../api/problem.ts';
import { processorOf } from '../api/processor-of.ts';
import { isOwnPath } from '../steps/run-server.ts';
import { processors } from './catalogue.ts';
import { ownProcessor } from './run-operation.ts';

type Checked = Pick<Resource, 'kind' | 'spec'>;

/** What a resource says that is never done here: a step that cannot work, or a field that nobody reads. */
export function withoutEffect(resource: Checked): readonly Problem[] {
  const { kind, spec } = resource as Resource;
  switch (kind) {
    case 'Operation':
      return [...unknownPath(spec), ...brokenFunction(spec), ...unreadFields(spec)];
    case 'OperationSet':
      return unreadInGraph(spec.adjacencyList);
    case 'Diagnosis':
    case 'Trigger':
      return unreadParameters(spec.parameters);
    case 'CommonEvent':
      return [STORED_EVENT];
  }
}

const STORED_EVENT = note(
  ['kind'],
  'no effect: a stored CommonEvent starts no Diagnosis',
  'send the event to the agent: POST /api/v1/commonevent',
);

/** A path without an address is one of the agent's own. */
function unknownPath(spec: OperationSpec): readonly Problem[] {
  const processor = processorOf(spec);
  if (processor.way !== 'http' || !isOwnPath(processor) || ownProcessor(processor)) return [];
  const { httpServer } = spec.processor;
  const place = ['spec', 'processor', ...(httpServer ? ['httpServer'] : []), 'path'];
  const instead = removedProcessors.get(processor.path);
  if (instead) return [note(place, 'the step fails: KubeDiag v0.2.1 removed it', instead)];
  const near = processors.find(({ path }) => isNearPath(path, processor.path));
  const meant = near ? `did you mean "${near.path}"? Else ` : '';
  const what = `the agent has no processor "${processor.path}", and no other server is named`;
  const fix = 'choose one of `kubediag operations`, or name your server in httpServer.address';
  return [problem(place, what, `${meant}${fix}`)];
}

/** What some KubeDiag had: its manifests are accepted, and the other paths of their graphs are walked. */
export const removedProcessors: ReadonlyMap<string, string> = new Map([
  ['/processor/commandExecutor', 'use scriptRunner'],
]);

/** Also where the directory is left out: "/podListCollector". */
function isNearPath(path: string, given: string): boolean {
  const [plain = ''] = given.split('?');
  const last = (text: string) => text.slice(text.lastIndexOf('/') + 1);
  return isNearly(path, plain) || isNearly(last(path), last(plain));
}

function brokenFunction({ processor }: OperationSpec): readonly Problem[] {
  const code = processor.function;
  if (!code) return [];
  const place = ['spec', 'processor', 'function'];
  if (code.runtime !== 'Python3') {
    const meant =
      code.runtime === 'python3' ? 'did you mean "Python3"? It runs' : 'use "Python3" with';
    const what = `the step fails: "${code.runtime}" needs an image, and none is built here`;
    const fix = `${meant} handler(context) of function.py; or use a server of your own`;
    return [note([...place, 'runtime'], what, fix)];
  }
  if (Object.hasOwn(code.codeSource, 'function.py')) return [];
  const what = 'the function cannot run: there is no file function.py';
  const fix = 'define handler(context) in a file of that name';
  return [problem([...place, 'codeSource'], what, fix)];
}

function unreadFields(spec: OperationSpec): readonly Problem[] {
  return UNREAD_FIELDS.filter(([field]) => spec[field]).map(([field, what, fix]) =>
    note(['spec', field], what, fix),
  );
}

const UNREAD_FIELDS = [
  [
    'storage',
    'no effect: results are stored with the Diagnosis, large ones in the state directory',
    'remove it',
  ],
  [
    'dependences',
    'no effect: the OperationSet alone decides the order of steps',
    'remove it, and order the steps with "to" in the OperationSet',
  ],
] as const;

/** One note for all nodes: a graph may have hundreds. */
function unreadInGraph(nodes: readonly GraphNode[]): readonly Problem[] {
  const ordered = nodes.findIndex(({ dependences = [] }) => dependences.length > 0);
  const numbered = nodes.findIndex(({ id }, position) => id !== undefined && id !== position);
  const placeOf = (position: number, field: string) => ['spec', 'adjacencyList', position, field];
  const notes: Problem[] = [];
  if (ordered >= 0) {
    const what = 'no effect: only "to" decides the order of steps';
    const fix = 'remove it; let the earlier node lead to this one with "to"';
    notes.push(note(placeOf(ordered, 'dependences'), what, fix));
  }
  if (numbered >= 0) {
    const what = `no effect: the position in the list counts, and this node is number ${numbered}`;
    const fix = `write ${numbered}, and see that every "to" means positions`;
    notes.push(note(placeOf(numbered, 'id'), what, fix));
  }
  return notes;
}

const UNREAD_PARAMETERS: ReadonlyMap<string, string> = new Map(
  processors.flatMap(({ unused = {} }) => Object.entries(unused)),
);

function unreadParameters(parameters: Readonly<Record<string, string>> = {}): readonly Problem[] {
  return Object.keys(parameters).flatMap((key) => {
    const why = UNREAD_PARAMETERS.get(key);
    return why === undefined
      ? []
      : [note(['spec', 'parameters', key], `no effect: ${why}`, 'remove it')];
  });
}
