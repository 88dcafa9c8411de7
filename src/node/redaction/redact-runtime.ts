import { defined } from '../../lib/std/defined.ts';
import { fieldAt, jsonValue, listAt, numberAt, textAt } from '../../lib/std/json.ts';
import { RUNTIME_DEPTH_MAX } from '../evidence/limits.ts';
import { REDACTED, type RedactionRules } from '../model/redaction.ts';
import { redactMessage } from './redact-message.ts';

/** The fields of CRI that a bundle may contain: those of our own, trimmed definition. */
const PUBLIC_FIELDS: ReadonlySet<string> = new Set(
  [
    ['items', 'containers', 'status', 'mounts', 'metadata'],
    ['id', 'podSandboxId', 'name', 'uid', 'namespace', 'attempt', 'state'],
    ['createdAt', 'startedAt', 'finishedAt', 'exitCode', 'reason', 'logPath'],
    ['image', 'imageRef', 'runtimeHandler', 'containerPath', 'hostPath', 'readonly'],
    ['version', 'runtimeName', 'runtimeVersion', 'runtimeApiVersion'],
  ].flat(),
);

const USERS_MAPS: ReadonlySet<string> = new Set(['labels', 'annotations']);

/** What a runtime said, without what users, operators and their applications write into it. */
export function redactRuntime(value: unknown, rules: RedactionRules, depth = 0): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= RUNTIME_DEPTH_MAX) return null;
  if (Array.isArray(value)) return value.map((item) => redactRuntime(item, rules, depth + 1));
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]): [string, unknown][] => {
      if (USERS_MAPS.has(key)) return [[key, kubeletsOwn(item)]];
      if (key === 'info' && depth === 0) return [[key, redactInspect(item)]];
      if (key === 'message')
        return typeof item === 'string' ? [[key, redactMessage(item, rules)]] : [];
      return PUBLIC_FIELDS.has(key) ? [[key, redactRuntime(item, rules, depth + 1)]] : [];
    }),
  );
}

/** What the kubelet, and KubeEdge on the broker that it makes, write themselves. */
const OWN: ReadonlySet<string> = new Set([
  'io.kubernetes.pod.name',
  'io.kubernetes.pod.namespace',
  'io.kubernetes.pod.uid',
  'io.kubernetes.pod.terminationGracePeriod',
  'io.kubernetes.container.name',
  'io.kubernetes.container.hash',
  'io.kubernetes.container.restartCount',
  'io.kubernetes.container.terminationMessagePath',
  'io.kubernetes.container.terminationMessagePolicy',
  'io.kubeedge.edgecore/mqtt',
]);

/** By name: any other name may be anybody's, with the commands of a pod or all of it inside. */
function kubeletsOwn(map: unknown): Readonly<Record<string, unknown>> {
  if (typeof map !== 'object' || map === null) return {};
  const own = Object.entries(map).filter(
    ([key, value]) => OWN.has(key) && typeof value === 'string',
  );
  return Object.fromEntries(own);
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * What a runtime knows of a container beyond CRI, reduced to what a person needs who wants to know
 * what it is: image, program, names. Its arguments stay on the node: no list of names could ever
 * cover all the ways to pass a secret to a program. Before a removal we save the complete
 * of it beside the journal.
 */
function redactInspect(info: unknown): Fields {
  const text = textAt(info, 'info');
  if (text === undefined) return {};
  const parsed = jsonValue(text);
  return { info: parsed ? JSON.stringify(stored(parsed.value)) : REDACTED };
}

function stored(value: unknown): Fields {
  const config = fieldAt(value, 'config');
  return defined({
    pid: numberAt(value, 'pid'),
    sandboxID: textAt(value, 'sandboxID'),
    runtimeType: textAt(value, 'runtimeType'),
    config: defined({
      image: textAt(config, 'image', 'image'),
      working_dir: textAt(config, 'working_dir'),
      log_path: textAt(config, 'log_path'),
      command: onlyProgram(texts(listAt(config, 'command'))),
      args: withheld(texts(listAt(config, 'args'))),
      envs: (listAt(config, 'envs') ?? []).map((env) =>
        defined({ key: textAt(env, 'key'), value: REDACTED }),
      ),
      mounts: (listAt(config, 'mounts') ?? []).map((mount) => ({
        ...defined({ container_path: textAt(mount, 'container_path') }),
        ...(fieldAt(mount, 'readonly') === true ? { readonly: true } : {}),
      })),
    }),
  });
}

// /usr/sbin/mosquitto, but not DB_PASS=x of: env DB_PASS=x /app
const PROGRAM = /^[\w./+-]{1,200}$/;

function onlyProgram([program, ...words]: readonly string[]): readonly string[] {
  if (program === undefined) return [];
  return [PROGRAM.test(program) ? program : REDACTED, ...withheld(words)];
}

function withheld(words: readonly string[]): readonly string[] {
  return words.length === 0 ? [] : [`${words.length} ${REDACTED}`];
}

function texts(list: readonly unknown[] = []): readonly string[] {
  return list.filter((item) => typeof item === 'string');
}
