import { type Node, parseSync } from 'oxc-parser';
import { lineAt, type SourceFile } from '../source-files.ts';

/** One small change to a source file that some test should notice. */
export interface Mutant {
  readonly path: string;
  readonly line: number;
  /** What kind of change, such as "negate condition". */
  readonly kind: string;
  /** The source text that changes, from `start` to `end`. */
  readonly before: string;
  readonly after: string;
  readonly start: number;
  readonly end: number;
  /** A statement is left out with `if`, an expression is replaced with a conditional expression. */
  readonly form: 'expression' | 'statement';
  /** Runs when the module is loaded, and not again for each test file. */
  readonly atLoad: boolean;
}

interface Place {
  readonly atLoad: boolean;
  /** In a list that a module has as a constant: data without logic. */
  readonly inList: boolean;
  /** Parentheses around a part of `a?.b.c` would end its short circuit. */
  readonly inChain: boolean;
}

interface Change {
  readonly kind: string;
  /** The part that changes, where it is not the whole node. */
  readonly part?: Node;
  readonly after: string;
  readonly form?: 'statement';
}

const SWAPS: Readonly<Record<string, string>> = {
  '===': '!==',
  '!==': '===',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '-': '+',
  '*': '/',
  '&&': '||',
  '||': '&&',
};

const METHOD_SWAPS: Readonly<Record<string, string>> = {
  some: 'every',
  every: 'some',
  startsWith: 'endsWith',
  endsWith: 'startsWith',
  toSorted: '',
  filter: '',
};

// now.getTime() - time.getTime() <= RECENT_MS, waitedMs < LIMIT
const IS_TIME = /\.getTime\(\)|_MS\b|[a-z]Ms\b/;

/** All mutants of a file. Sentences stay as they are: they are checked elsewhere. */
export function mutantsOf({ path, text }: SourceFile): readonly Mutant[] {
  const { program, errors } = parseSync(path, text);
  if (errors[0]) throw new Error(`${path}: ${errors[0].message}`);
  const mutants: Mutant[] = [];

  const visit = (node: Node, place: Place): void => {
    for (const { kind, after, form = 'expression', part } of changesOf(node, text, place)) {
      const { start, end } = part ?? node;
      const [line, before] = [lineAt(text, start), text.slice(start, end)];
      if (before === after) continue;
      mutants.push({ path, line, kind, before, after, start, end, form, atLoad: place.atLoad });
    }
    const atLoad = place.atLoad && !isFunction(node);
    const inside = {
      atLoad,
      inList: atLoad && (place.inList || node.type === 'ArrayExpression'),
      inChain: node.type === 'ChainExpression' || (place.inChain && isChainPart(node)),
    };
    for (const child of childrenOf(node)) visit(child, inside);
  };
  visit(program, { atLoad: true, inList: false, inChain: false });
  return mutants;
}

/** The file with all its mutants in it. `isActive(n)` decides which of them, by its place in the list. */
export function withMutants(
  text: string,
  mutants: ReadonlyMap<number, Mutant>,
  isActive: string,
): string {
  const insertions = [...mutants].flatMap(([number, { start, end, form, after }]) =>
    form === 'statement'
      ? [
          { at: start, other: end, added: `if(${isActive}(${number})){${after}}else{` },
          { at: end, other: start, added: '}' },
        ]
      : [
          { at: start, other: end, added: `(${isActive}(${number})?(${after}):(` },
          { at: end, other: start, added: '))' },
        ],
  );
  // What ends at a place ends before the next begins; what holds more begins earlier.
  insertions.sort((one, two) => {
    if (one.at !== two.at) return one.at - two.at;
    const [oneEnds, twoEnds] = [one.other < one.at, two.other < two.at];
    if (oneEnds !== twoEnds) return oneEnds ? -1 : 1;
    return two.other - one.other;
  });
  let [result, from] = ['', 0];
  for (const { at, added } of insertions) {
    result += text.slice(from, at) + added;
    from = at;
  }
  return result + text.slice(from);
}

function changesOf(node: Node, text: string, { inList, inChain }: Place): readonly Change[] {
  const textOf = ({ start, end }: Node): string => text.slice(start, end);
  switch (node.type) {
    case 'BinaryExpression':
    case 'LogicalExpression': {
      const [left, right] = [textOf(node.left), textOf(node.right)];
      if (node.operator === '??') return [{ kind: 'drop default', after: left }];
      const swapped = SWAPS[node.operator];
      if (!swapped) return [];
      // Times that agree to the millisecond: nobody would call either answer a defect.
      const isOrder = /^[<>]/.test(node.operator) && node.right.type !== 'Literal';
      if (isOrder && IS_TIME.test(textOf(node))) return [];
      const kind = node.type === 'LogicalExpression' ? 'swap && and ||' : 'change operator';
      // Parentheses, for "a || b && c" reads otherwise.
      return [{ kind, after: `(${left}) ${swapped} (${right})` }];
    }
    case 'UnaryExpression':
      return node.operator === '!' ? [{ kind: 'drop !', after: textOf(node.argument) }] : [];
    case 'IfStatement':
    case 'ConditionalExpression': {
      const { test } = node;
      return [{ kind: 'negate condition', after: `!(${textOf(test)})`, part: test }];
    }
    case 'Literal': {
      // A test of each entry would only repeat the list.
      if (inList) return [];
      if (typeof node.value === 'number') {
        // A small number counts or is a place; nobody would call a limit of 10,001 a defect.
        const after = node.value > 9 ? '0' : `${node.value + 1}`;
        return [{ kind: 'change number', after }];
      }
      if (typeof node.value === 'boolean') return [{ kind: 'flip', after: `${!node.value}` }];
      const isWord = typeof node.value === 'string' && /^\S+$/.test(node.value);
      return isWord ? [{ kind: 'change string', after: "'mutant'" }] : [];
    }
    case 'ArrayExpression':
      return node.elements.length > 0 ? [{ kind: 'empty array', after: '[]' }] : [];
    case 'CallExpression': {
      const { callee } = node;
      if (inChain || callee.type !== 'MemberExpression' || callee.computed) return [];
      const name = textOf(callee.property);
      const swapped = Object.hasOwn(METHOD_SWAPS, name) ? METHOD_SWAPS[name] : undefined;
      if (swapped === undefined) return [];
      const object = textOf(callee.object);
      if (swapped === '') return [{ kind: `drop ${name}`, after: object }];
      const rest = text.slice(callee.end, node.end);
      return [{ kind: `${name} to ${swapped}`, after: `${object}.${swapped}${rest}` }];
    }
    case 'ExpressionStatement': {
      if ('directive' in node && node.directive) return [];
      const isSuper = textOf(node).startsWith('super');
      return isSuper ? [] : [{ kind: 'drop statement', after: '', form: 'statement' }];
    }
    case 'ReturnStatement':
      // `return false` is flipped already, and undefined is as false to most who ask.
      if (!node.argument || node.argument.type === 'Literal') return [];
      return [{ kind: 'return nothing', after: 'return undefined;', form: 'statement' }];
    default:
      return [];
  }
}

/** What may change below a node: no types, no names, no paths of imports. */
function childrenOf(node: Node): readonly Node[] {
  if (/^(Import|ExportAll|TSModule|TSInterface|TSTypeAlias)/.test(node.type)) return [];
  const isLoop = /^(While|DoWhile|For)/.test(node.type);
  return Object.entries(node).flatMap(([key, value]: [string, unknown]) => {
    // A key of an object is a name; an assignment's target is no value.
    const isName = (key === 'key' || key === 'property') && !('computed' in node && node.computed);
    const isTarget = key === 'left' && /^(Assignment|For)/.test(node.type);
    // A loop that goes on for ever says little, and takes long.
    const isEndless = isLoop && (key === 'test' || key === 'update');
    if (isName || isTarget || isEndless || key === 'source') return [];
    return [value].flat().filter(isNode);
  });
}

function isNode(value: unknown): value is Node {
  if (typeof value !== 'object' || value === null || !('type' in value)) return false;
  const type = String(value.type);
  return !type.startsWith('TS') || /^TS(As|Satisfies|NonNull)/.test(type);
}

function isFunction({ type }: Node): boolean {
  return /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(type);
}

function isChainPart({ type }: Node): boolean {
  return /^(CallExpression|MemberExpression|TSNonNullExpression)$/.test(type);
}
