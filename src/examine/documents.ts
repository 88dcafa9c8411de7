import { jsonValue, type TextValue, yamlValue } from '../evidence/text-value.ts';
import { documentKind } from './document-kinds.ts';
import { JSON_LINES_MAX } from './limits.ts';

/** A value that stands in a text as JSON or YAML, and where it begins. */
export interface Document {
  readonly value: unknown;
  /** From 1. */
  readonly line: number;
  /** JSON that was cut is no JSON; of YAML nobody can tell that more followed. */
  readonly form: 'json' | 'yaml';
}

/** The documents of a text, and what is left of it, with blank lines in their places. */
export interface Documents {
  readonly documents: readonly Document[];
  readonly rest: string;
}

// {"ts":1700000000000.1,"caller":"kubelet/kubelet.go:2012","msg":"SyncLoop (housekeeping)"}
const LOG_LINE =
  /^\{(?=.*"(?:msg|MESSAGE|log)":)(?=.*"(?:ts|caller|__REALTIME_TIMESTAMP|stream)":)/;

// apiVersion: v1, and of crictl inspect -o yaml: status:
const KUBERNETES_YAML = /^(?:(?:apiVersion|kind): \S|status:\s*$|containers:\s*$)/m;

/** Takes JSON and Kubernetes YAML out of a text. The lines of a JSON log stay in it. */
export function documentsIn(text: string): Documents {
  const begin = text.trimStart();
  if (/^[{[]/.test(begin) && !LOG_LINE.test(begin)) {
    const whole = jsonValue(text);
    if (whole) return { documents: [{ value: whole.value, line: 1, form: 'json' }], rest: '' };
  }
  const asYaml = KUBERNETES_YAML.test(text) ? yamlDocuments(text) : [];
  // A page about YAML, or a resource of another kind, may still quote what we know line by line.
  if (asYaml.some(({ value }) => documentKind(value))) return { documents: asYaml, rest: '' };
  return /^[{[]/m.test(text) ? jsonAmongLines(text) : { documents: [], rest: text };
}

/** Several documents may be divided by "---". */
function yamlDocuments(text: string): readonly Document[] {
  const documents: Document[] = [];
  let line = 1;
  for (const part of text.split(/^---[ \t]*$/m)) {
    const found: TextValue = KUBERNETES_YAML.test(part) ? yamlValue(part) : undefined;
    if (found && typeof found.value === 'object')
      documents.push({ value: found.value, line, form: 'yaml' });
    line += part.split('\n').length - 1;
  }
  return documents;
}

/** Documents begin and end at the left margin, as tools print them, or fill a line. */
function jsonAmongLines(text: string): Documents {
  const lines = text.split('\n');
  const documents: Document[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    if (!/^[{[]/.test(line) || LOG_LINE.test(line) || /^\[[+<\-\s\d]/.test(line)) continue;
    const found = jsonFrom(lines, at);
    if (!found) continue;
    documents.push({ value: found.value, line: at + 1, form: 'json' });
    lines.fill('', at, found.end + 1);
    at = found.end;
  }
  return { documents, rest: lines.join('\n') };
}

function jsonFrom(
  lines: readonly string[],
  at: number,
): { readonly value: unknown; readonly end: number } | undefined {
  const alone = jsonValue(lines[at] ?? '');
  if (alone) return { value: alone.value, end: at };
  const last = Math.min(lines.length, at + JSON_LINES_MAX);
  for (let end = at + 1; end < last; end += 1) {
    if (!/^[}\]]\s*$/.test(lines[end] ?? '')) continue;
    const found = jsonValue(lines.slice(at, end + 1).join('\n'));
    return found && { value: found.value, end };
  }
  return undefined;
}
