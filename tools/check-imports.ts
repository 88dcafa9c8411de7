import { type Break, cycles, forbiddenWays, importRules, unknownModules } from './import-rules.ts';
import { type Module, moduleGraph } from './module-graph.ts';
import { filesBelow, isGenerated, type SourceFile, TYPESCRIPT } from './source-files.ts';
import { longFiles } from './tidy-rules.ts';

/** A checker that sees nothing finds nothing: below this number something is wrong with it. */
const FILES_MIN = 10;

export interface ImportReport {
  readonly ok: boolean;
  readonly lines: readonly string[];
}

/** Every import that breaks a rule. */
export function importViolations(sources: readonly SourceFile[]): readonly Break[] {
  return brokenIn(moduleGraph(sources));
}

export function importReport(sources: readonly SourceFile[]): ImportReport {
  const modules = moduleGraph(sources);
  const breaks = brokenIn(modules);
  const imports = modules.reduce((sum, module) => sum + module.imports.length, 0);
  const seen = `${modules.length} files, ${imports} imports`;
  if (modules.length < FILES_MIN) {
    return {
      ok: false,
      lines: [`${seen}: fewer than ${FILES_MIN} files, so nothing is proven`],
    };
  }
  if (breaks.length === 0) return { ok: true, lines: [`${seen}, no rule broken`] };
  return { ok: false, lines: [...breaks.map(textOf), `${seen}, ${breaks.length} broken`] };
}

function brokenIn(modules: readonly Module[]): readonly Break[] {
  const ofImports = modules.flatMap((from) =>
    from.imports.flatMap((to) =>
      importRules.flatMap(({ rule, toDo, wrong: judge }) => {
        const wrong = judge(from, to);
        return wrong ? [{ path: from.path, line: to.line, rule, wrong, toDo }] : [];
      }),
    ),
  );
  return [...unknownModules(modules), ...ofImports, ...forbiddenWays(modules), ...cycles(modules)];
}

function textOf({ path, line, rule, wrong, toDo }: Break): string {
  return `${path}:${line}: ${rule}: ${wrong}\n  to do: ${toDo}`;
}

if (import.meta.main) {
  const sources = filesBelow(['src', 'lab'], TYPESCRIPT);
  const { ok, lines } = importReport(sources);
  const written = sources.filter(({ path }) => !isGenerated(path));
  const long = longFiles(written).map((file) => `warning: ${file}`);
  console.log([...long, ...lines].join('\n'));
  process.exitCode = ok ? 0 : 1;
}
