import {
  LIVE_NODE,
  MODULES,
  OPENS_LIVE_NODE,
  READER,
  STARTS_PROCESSES,
  UNREACHABLE,
  USES_PROCESSES,
  WRITER,
} from './import-table.ts';
import { type Import, type Module, moduleNameOf } from './module-graph.ts';
import { isTestCode } from './source-files.ts';

/** One import that breaks a rule: what is wrong, and what to do about it. */
export interface Break {
  readonly path: string;
  readonly line: number;
  readonly rule: string;
  readonly wrong: string;
  readonly toDo: string;
}

/** A rule between two modules, checked for a single import. */
interface ImportRule {
  readonly rule: string;
  readonly toDo: string;
  /** What is wrong with the import, or nothing. */
  readonly wrong: (from: Module, to: Import) => string | undefined;
}

export const importRules: readonly ImportRule[] = [
  {
    rule: 'readable imports',
    toDo: 'write an import, with its path as a plain string',
    wrong: (_, { target }) =>
      target.kind === 'unreadable' ? 'nobody can say what this import loads' : undefined,
  },
  {
    rule: 'product code stays in src',
    toDo: 'move what is shared into a module',
    wrong: (_, { target }) =>
      target.kind === 'file' && (!/^(src|lab)\//.test(target.path) || isTestCode(target.path))
        ? `${target.path} is no product code`
        : undefined,
  },
  {
    rule: 'allowed imports',
    toDo: 'pass it in, or move it to the module it belongs to; a new import needs a decision record',
    wrong: (from, { target }) => {
      const allowed = MODULES[from.moduleName ?? '']?.imports;
      if (target.kind !== 'file' || !target.moduleName || !allowed) return undefined;
      const isAllowed = [from.moduleName, ...allowed].includes(target.moduleName);
      return isAllowed ? undefined : `${from.moduleName} may not import ${target.moduleName}`;
    },
  },
  {
    rule: 'packages have their modules',
    toDo: 'use it in its module only, or add it to the table in tools/import-table.ts with a reason',
    wrong: (from, { target }) => {
      if (target.kind !== 'package') return undefined;
      const homes = Object.keys(MODULES).filter((name) =>
        MODULES[name]?.packages?.includes(target.name),
      );
      if (homes.includes(from.moduleName ?? '')) return undefined;
      return `${target.name} belongs to ${homes.length > 0 ? homes.join(', ') : 'no module'}`;
    },
  },
  {
    rule: 'pure stays pure',
    toDo: 'leave reading and time to a node reader, and take the answers as arguments',
    wrong: (from, { target }) => {
      if (!isPure(from.moduleName)) return undefined;
      if (target.kind === 'core') return `node:${target.name} in pure code`;
      if (target.kind !== 'file' || isPure(target.moduleName)) return undefined;
      return `${target.path} is not pure`;
    },
  },
  {
    rule: 'one module starts processes',
    toDo: 'use the module process, from the live node, the live writer, operations or lab',
    wrong: (from, { target }) => {
      const startsOne = target.kind === 'core' && STARTS_PROCESSES.includes(target.name);
      if (startsOne && from.moduleName !== 'process') return `node:${target.name} outside process`;
      const usesOne = target.kind === 'file' && target.moduleName === 'process';
      return usesOne && !USES_PROCESSES.test(from.path) ? 'may not start a process' : undefined;
    },
  },
  {
    rule: 'the writer stays in repair',
    toDo: 'ask repair to perform an action',
    wrong: (from, { target }) =>
      target.kind === 'file' && WRITER.test(target.path) && from.moduleName !== 'repair'
        ? 'only repair may hold what writes to a node or to its journal'
        : undefined,
  },
  {
    rule: 'only hosts open the live node',
    toDo: 'take a NodeReader as an argument',
    wrong: (from, { target }) =>
      target.kind === 'file' &&
      LIVE_NODE.test(target.path) &&
      !OPENS_LIVE_NODE.includes(from.moduleName ?? '')
        ? `${from.moduleName} opens the live node`
        : undefined,
  },
  {
    rule: 'faults are islands',
    toDo: 'move what two faults share into evidence or model; name a fault only in faults/index.ts',
    wrong: (from, { target }) => {
      const fault = target.kind === 'file' ? faultFolderOf(target.path) : undefined;
      if (!fault || faultFolderOf(from.path) === fault) return undefined;
      return from.path === 'src/node/faults/index.ts'
        ? undefined
        : `reaches into the fault ${fault}`;
    },
  },
  {
    rule: 'main loads hosts lazily',
    toDo: 'write await import(...) in the branch of the subcommand',
    wrong: (from, { target, lazy }) => {
      if (from.moduleName !== 'main' || target.kind !== 'file') return undefined;
      if (target.moduleName === 'reader' && !READER.test(target.path))
        return 'of reader only its process';
      return target.moduleName === 'std' || lazy
        ? undefined
        : `loads ${target.path} for every subcommand`;
    },
  },
];

function isPure(moduleName: string | undefined): boolean {
  return MODULES[moduleName ?? '']?.pure ?? false;
}

/** "stale-subpath-mount" of "src/node/faults/stale-subpath-mount/diagnose.ts". */
function faultFolderOf(path: string): string | undefined {
  const [, , , folder] = path.startsWith('src/node/faults/') ? path.split('/') : [];
  return folder?.includes('.') || folder === 'generated' ? undefined : folder;
}

export function unknownModules(modules: readonly Module[]): readonly Break[] {
  return modules
    .filter(({ moduleName }) => moduleName === undefined || !(moduleName in MODULES))
    .map(({ path }) => ({
      path,
      line: 1,
      rule: 'no unknown module',
      wrong: 'there is no such module',
      toDo: 'move it into a module, or add the module to tools/import-table.ts with a decision record',
    }));
}

/** Modules that must never be reached: follows the imports through any number of modules. */
export function forbiddenWays(modules: readonly Module[]): readonly Break[] {
  const byPath = new Map(modules.map((module) => [module.path, module]));
  return Object.entries(UNREACHABLE).flatMap(([moduleName, forbidden]) =>
    modules
      .filter((module) => module.moduleName === moduleName)
      .flatMap((module) => {
        const way = wayTo(module, (path) => forbidden.includes(moduleNameOf(path) ?? ''), byPath);
        if (!way) return [];
        return {
          path: module.path,
          line: module.imports.find(({ target }) => pathOf(target) === way[1])?.line ?? 1,
          rule: `${moduleName} cannot reach ${forbidden.join(' or ')}`,
          wrong: way.join(' > '),
          toDo: 'cut the way at its weakest import',
        };
      }),
  );
}

/** The shortest way of imports from a module to a path that is wanted. */
function wayTo(
  start: Module,
  wanted: (path: string) => boolean,
  byPath: ReadonlyMap<string, Module>,
): readonly string[] | undefined {
  const seen = new Set([start.path]);
  const ways: (readonly string[])[] = [[start.path]];
  for (const way of ways) {
    for (const { target } of byPath.get(way.at(-1) ?? '')?.imports ?? []) {
      const path = pathOf(target);
      if (path === undefined) continue;
      if (wanted(path)) return [...way, path];
      if (seen.has(path)) continue;
      seen.add(path);
      ways.push([...way, path]);
    }
  }
  return undefined;
}

/** A circle of files is reported once, at the first of its files in the alphabet. */
export function cycles(modules: readonly Module[]): readonly Break[] {
  const byPath = new Map(modules.map((module) => [module.path, module]));
  const reported = new Set<string>();
  return modules.flatMap((module) => {
    if (reported.has(module.path)) return [];
    const way = wayTo(module, (path) => path === module.path, byPath);
    if (!way) return [];
    for (const path of way) reported.add(path);
    return {
      path: module.path,
      line: module.imports.find(({ target }) => pathOf(target) === way[1])?.line ?? 1,
      rule: 'no cycle',
      wrong: way.join(' > '),
      toDo: 'move what both need into a file of its own',
    };
  });
}

function pathOf(target: Import['target']): string | undefined {
  return target.kind === 'file' ? target.path : undefined;
}
