import type { GoroutineDump, GoroutineGroup } from '../../lib/go/goroutine-dump.ts';
import { volumeMetricLines } from '../evidence/volumes/volume-metrics.ts';
import type {
  Answer,
  HttpAnswer,
  LogLines,
  Question,
  QuestionKind,
  ReadFailure,
  RuntimeAnswer,
} from '../model/node-reader.ts';
import { REDACTED, type RedactionRules } from '../model/redaction.ts';
import { questionOf, type Recorded } from '../recording/recording.ts';
import { redactConfig } from './redact-config.ts';
import { redactLog } from './redact-log.ts';
import { redactPods } from './redact-pods.ts';
import { redactSentence } from './redact-prose.ts';
import { redactRuntime } from './redact-runtime.ts';
import { redactText } from './redact-text.ts';

/**
 * An answer as it may leave the node in a bundle: what our own parsers read of it, and little else.
 * Parsed, it gives the same evidence. What nobody here knows is withheld, so evidence that asks a
 * new kind of file or page must be added here, or by its fault, or its replay fails at once.
 */
export function redactAnswer<K extends QuestionKind>(
  kind: K,
  question: Question<K>,
  answer: Answer<K>,
  rules?: RedactionRules,
): Answer<K>;
export function redactAnswer(
  kind: QuestionKind,
  question: Question<QuestionKind>,
  answer: Answer<QuestionKind>,
  rules: RedactionRules = NOTHING_READ,
): Answer<QuestionKind> {
  switch (kind) {
    case 'file':
      return redactFile((question as Question<'file'>).path, answer as string, rules);
    case 'kubelet':
      return redactPage((question as Question<'kubelet'>).path, answer as HttpAnswer, rules);
    case 'goroutines':
      return redactDump(answer as GoroutineDump);
    case 'profile':
      // No check asks for it, and nobody here knows what its labels say.
      return REDACTED;
    case 'runtime': {
      const { criVersion, message } = answer as RuntimeAnswer;
      return { criVersion, message: redactRuntime(message, rules) };
    }
    case 'log':
      return redactLog(answer as LogLines, rules);
    default:
      // Names of files, what they are, and the versions of programs.
      return answer;
  }
}

const NOTHING_READ: RedactionRules = { logSignatures: [], messages: [], files: [] };

/** Why a question was not answered, as it may leave the node: also that is in others' words. */
export function redactDetail(failure: ReadFailure, detail: string): string {
  return failure === 'exited' ? REDACTED : redactSentence(detail);
}

// /proc/812/cmdline
const COMMAND_LINE = /^\/proc\/[^/]+\/cmdline$/;

// /proc/812/root/var/lib/kubelet/config.yaml
const SEEN_BY_PROCESS = /^\/proc\/[^/]+\/root\//;

// /proc/812/environ
const ENVIRONMENT = /^\/proc\/[^/]+\/environ$/;

// /proc/812/root/sys/fs/fuse/connections/57/waiting
const FUSE_REQUESTS = /\/fuse\/connections\/\d+\/waiting$/;

// /proc/4711/net/tcp6
const CONNECTIONS = /^\/proc\/[^/]+\/net\/(?:tcp|udp)6?$/;

function redactFile(path: string, text: string, { files }: RedactionRules): string {
  const rule = files.find((each) => each.path.test(path));
  if (rule) return rule.redact(text);
  if (CONNECTIONS.test(path)) return listeners(text);
  // 3
  if (FUSE_REQUESTS.test(path) && /^\d+\s*$/.test(text)) return text;
  if (COMMAND_LINE.test(path)) return redactText(text.split('\0')).join('\0');
  if (SEEN_BY_PROCESS.test(path)) return redactConfig(text);
  // What the kernel itself writes holds no secrets, but for the environment of a process.
  return path.startsWith('/proc/') && !ENVIRONMENT.test(path) ? text : REDACTED;
}

/** Connections stay on the node; listening ports may leave it. */
function listeners(table: string): string {
  const lines = table.split('\n').filter((line) => line.trim().split(/\s+/)[3] === '0A');
  return lines.map((line) => `${line}\n`).join('');
}

/** Functions and addresses are the program's own; what it labelled its goroutines with may be anyone's. */
function redactDump(dump: GoroutineDump): GoroutineDump {
  return { ...dump, groups: dump.groups.map(withoutLabels) };
}

function withoutLabels(group: GoroutineGroup): GoroutineGroup {
  const { labels, ...rest } = group;
  return labels === undefined ? group : rest;
}

function redactPage(path: string, { status, body }: HttpAnswer, rules: RedactionRules): HttpAnswer {
  if (path === '/metrics') return { status, body: knownMetrics(body) };
  if (path === '/pods' && status === 200) return { status, body: redactPods(body, rules) };
  return { status, body: path.startsWith('/healthz') ? body : REDACTED };
}

/** The version, and what the kubelet counts of its volumes: names of plugins, and numbers. */
function knownMetrics(metrics: string): string {
  const info = metrics.split('\n').filter((line) => line.startsWith('kubernetes_build_info{'));
  const lines = [...info, ...volumeMetricLines(metrics)];
  return lines.length > 0 ? `${lines.join('\n')}\n` : '';
}

/** Recorded answers and failures in a form that may leave the node. */
export function redactAnswers(
  answers: ReadonlyMap<string, Recorded>,
  rules: RedactionRules,
): ReadonlyMap<string, Recorded> {
  const safe = new Map<string, Recorded>();
  for (const [key, recorded] of answers) {
    const { kind, question } = questionOf(key);
    if ('answer' in recorded) {
      safe.set(key, { answer: redactAnswer(kind, question, recorded.answer, rules) });
    } else {
      const { failure, detail } = recorded;
      safe.set(
        key,
        detail === undefined ? { failure } : { failure, detail: redactDetail(failure, detail) },
      );
    }
  }
  return safe;
}
