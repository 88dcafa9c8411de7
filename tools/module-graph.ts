import { isBuiltin } from 'node:module';
import { posix } from 'node:path';
import { parseSync, Visitor } from 'oxc-parser';
import { LOADS_UNSEEN, MODULES } from './import-table.ts';
import { isTestCode, lineAt, type SourceFile } from './source-files.ts';

/** One product module and all it imports; type-only imports count like any other. */
export interface Module {
  readonly path: string;
  /** The directory below its layer in src/, "lab", "main" for src/main.ts, or undefined for any other file in src/. */
  readonly moduleName: string | undefined;
  readonly imports: readonly Import[];
}

export interface Import {
  readonly line: number;
  readonly specifier: string;
  /** Written as `import('...')`, so loaded only when that line runs. */
  readonly lazy: boolean;
  readonly target: Target;
}

export type Target =
  | { readonly kind: 'file'; readonly path: string; readonly moduleName: string | undefined }
  | { readonly kind: 'core'; readonly name: string }
  | { readonly kind: 'package'; readonly name: string }
  /** `import()` of what is computed, or no import at all: nobody can say what it loads. */
  | { readonly kind: 'unreadable' };

export class ParseError extends Error {
  override readonly name = 'ParseError';
}

export function moduleGraph(sources: readonly SourceFile[]): readonly Module[] {
  return sources.filter(({ path }) => !isTestCode(path)).map(moduleOf);
}

function moduleOf(source: SourceFile): Module {
  return { path: source.path, moduleName: moduleNameOf(source.path), imports: importsOf(source) };
}

export function importsOf(source: SourceFile): readonly Import[] {
  const { program, errors } = parseSync(source.path, source.text);
  if (errors[0]) throw new ParseError(`${source.path}: ${errors[0].message}`);

  const imports: Import[] = [];
  const add = (start: number, specifier: string | undefined, lazy = false): void => {
    const line = lineAt(source.text, start);
    const target = specifier === undefined ? UNREADABLE : targetOf(source.path, specifier);
    imports.push({ line, specifier: specifier ?? '(computed)', lazy, target });
  };
  new Visitor({
    ImportDeclaration: (node) => add(node.start, node.source.value),
    ExportAllDeclaration: (node) => add(node.start, node.source.value),
    ExportNamedDeclaration: (node) => {
      if (node.source) add(node.start, node.source.value);
    },
    ImportExpression: (node) => {
      const { source: asked } = node;
      const isText = asked.type === 'Literal' && typeof asked.value === 'string';
      add(node.start, isText ? asked.value : undefined, true);
    },
    TSImportType: (node) => add(node.start, node.source.value),
    // process.getBuiltinModule(...), process['getBuiltinModule'], const { getBuiltinModule } = ...
    Identifier: ({ name, start }) => {
      if (LOADS_UNSEEN.includes(name)) add(start, undefined, true);
    },
    Literal: ({ value, start }) => {
      if (LOADS_UNSEEN.includes(String(value))) add(start, undefined, true);
    },
  }).visit(program);
  return imports;
}

const UNREADABLE: Target = { kind: 'unreadable' };

function targetOf(from: string, specifier: string): Target {
  if (specifier.startsWith('.') || specifier.startsWith('/')) {
    const path = posix.join(posix.dirname(from), specifier);
    return { kind: 'file', path, moduleName: moduleNameOf(path) };
  }
  if (isBuiltin(specifier)) return { kind: 'core', name: specifier.replace(/^node:/, '') };
  return { kind: 'package', name: packageOf(specifier) };
}

/** "@bufbuild/protobuf/wire" is of the package "@bufbuild/protobuf". */
function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

export function moduleNameOf(path: string): string | undefined {
  if (path === 'src/main.ts') return 'main';
  const [top, layer, module, ...rest] = path.split('/');
  if (top === 'lab') return 'lab';
  const isHome = rest.length > 0 && MODULES[module ?? '']?.layer === layer;
  return top === 'src' && isHome ? module : undefined;
}
