import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  type ParsedNode,
  type ScalarTag,
} from 'yaml';
import { messageOf } from '../../../lib/std/message-of.ts';
import { YamlLimitError, yamlDocuments } from '../../../node/evidence/text/yaml-documents.ts';
import type { Place } from '../../../pipeline/api/problem.ts';
import { YAML_ALIASES_MAX, YAML_ERRORS_MAX } from '../limits.ts';

/** One object of a manifest, and where its parts stand in the file. */
export interface ManifestObject {
  readonly value: unknown;
  readonly lineOf: (place: Place) => number;
}

export interface ParsedManifest {
  readonly objects: readonly ManifestObject[];
  /** What is no YAML, with its line. */
  readonly errors: readonly { readonly line: number; readonly message: string }[];
}

/**
 * kubectl reads YAML as it once was: these words are true or false, and a number may have "_" in it or
 * be octal. Else a parameter "no" would seem to be a text here, and be refused there.
 */
const AS_KUBECTL_READS: readonly ScalarTag[] = [
  {
    tag: 'tag:yaml.org,2002:bool',
    default: true,
    // yes, Off, N
    test: /^(?:y|Y|yes|Yes|YES|n|N|no|No|NO|on|On|ON|off|Off|OFF)$/,
    resolve: (text) => /^(y|yes|on)$/i.test(text),
  },
  {
    tag: 'tag:yaml.org,2002:int',
    default: true,
    // 0644, 1_000
    test: /^[-+]?[0-9][0-9_]*$/,
    resolve: (text) => {
      const plain = text.replaceAll('_', '');
      return /^[-+]?0[0-7]+$/.test(plain) ? Number.parseInt(plain, 8) : Number(plain);
    },
  },
];

/** Reads YAML of any number of documents, or JSON, which is YAML too. Lists are taken apart. */
export function parseManifests(text: string): ParsedManifest {
  const lines = new LineCounter();
  try {
    const limits = { aliasesMax: YAML_ALIASES_MAX, errorsMax: YAML_ERRORS_MAX };
    const all = yamlDocuments(text, limits, {
      lineCounter: lines,
      customTags: (tags) => [...AS_KUBECTL_READS, ...tags],
    });
    return {
      errors: all.flatMap(({ errors }) =>
        errors.map(({ pos, message }) => ({ line: lines.linePos(pos[0]).line, message })),
      ),
      objects: all
        .filter(({ errors }) => errors.length === 0)
        .flatMap((document) => objectsOf(document, lines)),
    };
  } catch (error) {
    // A limit, or aliases that stand for more than they may.
    const line = error instanceof YamlLimitError ? lines.linePos(error.offset).line : 1;
    return { objects: [], errors: [{ line, message: messageOf(error) }] };
  }
}

function objectsOf(document: Document.Parsed, lines: LineCounter): readonly ManifestObject[] {
  const value = document.toJS({ maxAliasCount: YAML_ALIASES_MAX }) as unknown;
  // A document of nothing but comments.
  if (value === null || value === undefined) return [];
  const lineOf = (place: Place) => lineAt(document, place, lines);
  const items = itemsOf(value);
  if (!items) return [{ value, lineOf }];
  return items.map((item, index) => ({
    value: item,
    lineOf: (place) => lineOf(['items', index, ...place]),
  }));
}

/** The objects of a List or of an OperationList, as `kubectl get -o yaml` writes them. */
function itemsOf(value: unknown): readonly unknown[] | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { kind, items } = value as { readonly kind?: unknown; readonly items?: unknown };
  const isList = typeof kind === 'string' && kind.endsWith('List') && Array.isArray(items);
  return isList ? (items as readonly unknown[]) : undefined;
}

/** Where a place begins: at its key. Of what is missing, where that is in which it is missing. */
function lineAt(document: Document.Parsed, place: Place, lines: LineCounter): number {
  let node: Node | null | undefined = document.contents;
  let offset = document.contents?.range?.[0] ?? 0;
  for (const step of place) {
    if (isAlias(node)) node = node.resolve(document);
    if (isMap<ParsedNode, ParsedNode>(node)) {
      const pair: Pair<ParsedNode, ParsedNode | null> | undefined = node.items.find(
        ({ key }) => isScalar(key) && String(key.value) === step,
      );
      if (!pair) break;
      offset = pair.key.range[0];
      node = pair.value;
    } else if (isSeq<ParsedNode>(node) && typeof step === 'number') {
      const item: ParsedNode | undefined = node.items[step];
      if (!item) break;
      offset = item.range[0];
      node = item;
    } else {
      break;
    }
  }
  return lines.linePos(offset).line;
}
