import {
  fieldAt,
  jsonLimit,
  jsonValue,
  listAt,
  type TextValue,
  textAt,
} from '../../lib/std/json.ts';
import { CONFIG_CHARACTERS_MAX } from '../evidence/limits.ts';
import { yamlValue } from '../evidence/text/yaml-value.ts';
import { YAML_CHARACTERS_MAX } from './limits.ts';

/** A value that stands in a text as JSON or YAML, and where it begins. */
export interface Document {
  readonly value: unknown;
  /** From 1. */
  readonly line: number;
  /** JSON that was cut is invalid; YAML that was cut is not recognisable. */
  readonly form: 'json' | 'yaml';
}

/** The documents of a text, and what is left of it, with blank lines in their places. */
export interface Documents {
  readonly documents: readonly Document[];
  readonly rest: string;
  /** What stands in it and is too much to be read, in words. */
  readonly unread: readonly string[];
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
    const whole = jsonOf(text);
    if (whole && 'unread' in whole) return { documents: [], rest: '', unread: [whole.unread] };
    if (whole) {
      return { documents: [{ value: whole.value, line: 1, form: 'json' }], rest: '', unread: [] };
    }
  }
  const asYaml = KUBERNETES_YAML.test(text) ? yamlIn(text) : { documents: [], unread: [] };
  // A page about YAML, or a resource of another kind, may still quote what we know line by line.
  if (asYaml.documents.some(({ value }) => documentKind(value))) return { ...asYaml, rest: '' };
  const { unread } = asYaml;
  return /^[{[]/m.test(text) ? jsonAmongLines(text, unread) : { documents: [], rest: text, unread };
}

type Found = { readonly value: unknown } | { readonly unread: string } | undefined;

function jsonOf(text: string): Found {
  return jsonValue(text) ?? unreadJson(text);
}

function unreadJson(text: string): Found {
  const why = jsonLimit(text);
  return why === undefined ? undefined : { unread: `JSON that was not read: ${why}` };
}

/** Several documents may be divided by "---". */
function yamlIn(text: string): Omit<Documents, 'rest'> {
  const documents: Document[] = [];
  const unread = new Set<string>();
  let charactersLeft = YAML_CHARACTERS_MAX;
  let line = 1;
  for (const part of text.split(/^---[ \t]*$/m)) {
    if (KUBERNETES_YAML.test(part)) {
      charactersLeft -= part.length;
      const found: TextValue = charactersLeft < 0 ? undefined : yamlValue(part);
      if (found && typeof found.value === 'object') {
        documents.push({ value: found.value, line, form: 'yaml' });
      } else if (Math.min(charactersLeft, CONFIG_CHARACTERS_MAX - part.length) < 0) {
        unread.add('YAML that was not read: there is too much of it');
      }
    }
    line += part.split('\n').length - 1;
  }
  return { documents, unread: [...unread] };
}

/** Documents begin and end at the left margin, as tools print them, or fill a line. */
function jsonAmongLines(text: string, unreadYaml: readonly string[]): Documents {
  const lines = text.split('\n');
  const starts = startsOf(lines);
  const closing = closingLines(lines);
  const documents: Document[] = [];
  const unread = new Set(unreadYaml);
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    if (!/^[{[]/.test(line) || LOG_LINE.test(line) || /^\[[+<\-\s\d]/.test(line)) continue;
    let end = at;
    let found = jsonOf(line);
    if (!found) {
      end = closing[at] ?? lines.length;
      // A slice, and not lines put together again: most of what begins so is no JSON.
      if (end < lines.length) found = jsonOf(text.slice(starts[at], starts[end + 1]));
    }
    if (!found) continue;
    if ('unread' in found) {
      unread.add(found.unread);
      continue;
    }
    documents.push({ value: found.value, line: at + 1, form: 'json' });
    lines.fill('', at, end + 1);
    at = end;
  }
  return { documents, rest: lines.join('\n'), unread: [...unread] };
}

/** Where each line begins, and where one behind the last would. */
function startsOf(lines: readonly string[]): readonly number[] {
  const starts = [0];
  let start = 0;
  for (const { length } of lines) {
    start += length + 1;
    starts.push(start);
  }
  return starts;
}

/** For each line, the next one behind it that only closes a bracket. */
function closingLines(lines: readonly string[]): Int32Array {
  const closing = new Int32Array(lines.length);
  let next = lines.length;
  for (let at = lines.length - 1; at >= 0; at -= 1) {
    closing[at] = next;
    if (/^[}\]]\s*$/.test(lines[at] ?? '')) next = at;
  }
  return closing;
}

/** What a JSON or YAML document can be, and how it is called. */
export const DOCUMENT_KINDS = {
  pods: 'pods (the kubelet, or kubectl get pod)',
  nodes: 'nodes (kubectl get node)',
  events: 'events (kubectl get events)',
  'container-list': 'the list of containers (crictl ps -a -o json)',
  'sandbox-list': 'the list of sandboxes (crictl pods -o json)',
  'container-status': 'the status of a container (crictl inspect)',
  'container-state': "a container's state, as a part of a pod's status",
  'runtime-version': 'the version of the runtime (crictl version)',
  configuration: "the kubelet's configuration, which is not judged",
} as const;

export type DocumentKind = keyof typeof DOCUMENT_KINDS;

/** The kind of a value by its shape; undefined for what we make nothing of. */
export function documentKind(value: unknown): DocumentKind | undefined {
  const kind = textAt(value, 'kind') ?? '';
  const items = listAt(value, 'items');
  const [first] = items ?? [];
  if (kind === 'Pod' || kind === 'PodList') return 'pods';
  if (kind === 'Node' || kind === 'NodeList') return 'nodes';
  if (kind === 'Event' || kind === 'EventList') return 'events';
  if (kind === 'KubeletConfiguration' || fieldAt(value, 'kubeletconfig')) return 'configuration';
  if (kind === 'List' || (kind === '' && fieldAt(value, 'apiVersion'))) return kindOfItem(first);
  if (isSandbox(first)) return 'sandbox-list';
  const [container] = listAt(value, 'containers') ?? [];
  if (listAt(value, 'containers') && (!container || textAt(container, 'podSandboxId'))) {
    return 'container-list';
  }
  if (isStatus(fieldAt(value, 'status'))) return 'container-status';
  if (isState(value)) return 'container-state';
  if (textAt(value, 'runtimeName')) return 'runtime-version';
  if (Array.isArray(value)) return documentKind((value as readonly unknown[])[0]);
  return undefined;
}

function kindOfItem(item: unknown): DocumentKind | undefined {
  const kind = textAt(item, 'kind');
  if (kind === 'Pod') return 'pods';
  if (kind === 'Node') return 'nodes';
  return kind === 'Event' ? 'events' : undefined;
}

function isSandbox(item: unknown): boolean {
  return (textAt(item, 'state') ?? '').startsWith('SANDBOX_');
}

/** {"state": "CONTAINER_EXITED", "logPath": "", ...}, or with the numbers and names of CRI itself. */
function isStatus(status: unknown): boolean {
  const state = fieldAt(status, 'state');
  if (typeof state === 'string') return state.startsWith('CONTAINER_');
  const path = fieldAt(status, 'log_path') ?? fieldAt(status, 'logPath');
  return typeof state === 'number' && path !== undefined;
}

/** {"exitCode": 128, "reason": "ContainerCannotRun", ...}, alone or under "terminated". */
function isState(value: unknown): boolean {
  const inner = ['terminated', 'waiting', 'running', 'lastState', 'state'].some(
    (name) => typeof fieldAt(value, name) === 'object' && fieldAt(value, name) !== null,
  );
  return (
    inner || (fieldAt(value, 'exitCode') !== undefined && textAt(value, 'reason') !== undefined)
  );
}
