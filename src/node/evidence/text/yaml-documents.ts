import {
  Composer,
  CST,
  type Document,
  type DocumentOptions,
  isCollection,
  isScalar,
  Lexer,
  type ParseOptions,
  Parser,
  type SchemaOptions,
  visit,
  YAMLParseError,
} from 'yaml';
import { cutText } from '../../../lib/std/cut-text.ts';
import {
  KEY_CHARACTERS_MAX,
  YAML_DEPTH_MAX,
  YAML_DOCUMENTS_MAX,
  YAML_TOKENS_MAX,
} from '../limits.ts';

/** The limit that ended the parsing, and its line. */
export class YamlLimitError extends Error {
  override readonly name = 'YamlLimitError';
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

export interface YamlLimits {
  /** Aliases. The library compares each alias with all anchors. */
  readonly aliasesMax: number;
  /** Errors in the text. Each takes far more time and memory than its characters. */
  readonly errorsMax: number;
  readonly tokensMax?: number;
}

type YamlOptions = ParseOptions & DocumentOptions & SchemaOptions;

/**
 * Parses YAML from outside, in time and memory linear in its length. Limits are checked before any
 * value is created; reaching one throws a YamlLimitError. The library takes quadratic time to find
 * duplicate keys, and to convert a key that is a list or a map. So we find duplicates ourselves,
 * and such a key is an error, as in Kubernetes.
 */
export function yamlDocuments(
  text: string,
  limits: YamlLimits,
  options: YamlOptions = {},
): readonly Document.Parsed[] {
  const composer = new Composer({ ...options, prettyErrors: false, uniqueKeys: false });
  const budget = new Budget(limits);
  limitErrors(composer, budget);
  const tokens = tokensOf(text, budget, options);
  const documents = Array.from(composer.compose(tokens, false, text.length));
  for (const document of documents) if (document.errors.length === 0) checkKeys(document, budget);
  return documents;
}

/** The remaining budget, and the current position in the text. */
class Budget {
  offset = 0;
  readonly #tooLong: string;
  readonly #left: Record<'aliases' | 'documents' | 'errors' | 'tokens', number>;

  constructor({ aliasesMax, errorsMax, tokensMax = YAML_TOKENS_MAX }: YamlLimits) {
    this.#tooLong = `more than ${tokensMax} parts: split it`;
    const documents = YAML_DOCUMENTS_MAX;
    this.#left = { aliases: aliasesMax, documents, errors: errorsMax, tokens: tokensMax };
  }

  spend(what: 'aliases' | 'documents' | 'errors' | 'tokens', why: string): void {
    this.#left[what] -= 1;
    if (this.#left[what] < 0) throw new YamlLimitError(why, this.offset);
  }

  spendToken(depth: number): void {
    this.spend('tokens', this.#tooLong);
    if (depth <= YAML_DEPTH_MAX) return;
    throw new YamlLimitError(`nested more than ${YAML_DEPTH_MAX} levels deep`, this.offset);
  }
}

const TOO_MANY_DOCUMENTS = `more than ${YAML_DOCUMENTS_MAX} documents`;

/** The tokens of the library's parser, with a check of the limits after each. */
function* tokensOf(
  text: string,
  budget: Budget,
  { lineCounter }: YamlOptions,
): Generator<CST.Token> {
  const parser = new Parser(lineCounter?.addNewLine);
  lineCounter?.addNewLine(0);
  // The content of a scalar may begin with any character, and follows a marker token.
  let isContent = false;
  for (const lexeme of new Lexer().lex(text)) {
    if (lexeme.startsWith('*') && !isContent) budget.spend('aliases', 'too many aliases');
    isContent = lexeme === CST.SCALAR;
    for (const token of parser.next(lexeme)) yield counted(token, budget);
    budget.offset = parser.offset;
    budget.spendToken(parser.stack.length);
  }
  for (const token of parser.end()) yield counted(token, budget);
}

function counted(token: CST.Token, budget: Budget): CST.Token {
  if (token.type === 'error') budget.spend('errors', token.message);
  if (token.type === 'document' || token.type === 'doc-end') {
    budget.spend('documents', TOO_MANY_DOCUMENTS);
  }
  return token;
}

/** The library has no limit on errors, and collects warnings that we do not use. */
function limitErrors(composer: Composer, budget: Budget): void {
  type OnError = (source: unknown, code: string, message: string, isWarning?: boolean) => void;
  const own = composer as unknown as { onError: OnError };
  const keep = own.onError;
  own.onError = (source, code, message, isWarning) => {
    if (isWarning) return;
    budget.spend('errors', message);
    keep(source, code, message);
  };
}

/** The same text as kubectl. */
function duplicateKey(key: unknown): string {
  return `key "${cutText(String(key), KEY_CHARACTERS_MAX)}" already set in map`;
}

function checkKeys(document: Document.Parsed, budget: Budget): void {
  const report = (range: readonly number[] | null | undefined, message: string) => {
    const [start = 0] = range ?? [];
    budget.offset = start;
    budget.spend('errors', message);
    document.errors.push(new YAMLParseError([start, start + 1], 'DUPLICATE_KEY', message));
  };
  visit(document, {
    Map: (_, { items }) => {
      const known = new Set<unknown>();
      for (const { key } of items) {
        if (isCollection(key)) report(key.range, 'A map key must not be a list or a map');
        if (!isScalar(key)) continue;
        if (known.has(key.value)) report(key.range, duplicateKey(key.value));
        known.add(key.value);
      }
    },
  });
}
