import { defined } from '../../lib/std/defined.ts';
import { fieldAt, jsonValue, listAt, numberAt, textAt } from '../../lib/std/json.ts';
import { REDACTED, type RedactionRules } from '../model/redaction.ts';
import { redactMessage } from './redact-message.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The kubelet's list of pods with what a fault can need: no environment, arguments or labels. */
export function redactPods(body: string, rules: RedactionRules): string {
  const parsed = jsonValue(body);
  if (!parsed) return REDACTED;
  const items = fieldAt(parsed.value, 'items');
  if (items === undefined) return '{}';
  if (!Array.isArray(items)) return JSON.stringify({ items: items === null ? null : REDACTED });
  return JSON.stringify({ items: items.map((pod) => redactPod(pod, rules)) });
}

function redactPod(pod: unknown, rules: RedactionRules): Fields {
  return {
    metadata: {
      ...texts(fieldAt(pod, 'metadata'), 'name', 'namespace', 'uid', 'deletionTimestamp'),
      annotations: texts(fieldAt(pod, 'metadata', 'annotations'), ...ANNOTATIONS),
    },
    spec: {
      ...texts(fieldAt(pod, 'spec'), 'restartPolicy', 'nodeName'),
      ...lists(fieldAt(pod, 'spec'), CONTAINER_LISTS, redactContainer),
      ...lists(fieldAt(pod, 'spec'), ['volumes'], redactVolume),
    },
    status: {
      ...texts(fieldAt(pod, 'status'), 'phase'),
      ...lists(fieldAt(pod, 'status'), STATUS_LISTS, (status) => redactStatus(status, rules)),
    },
  };
}

const ANNOTATIONS = [
  'kubernetes.io/config.source',
  'kubernetes.io/config.hash',
  'kubernetes.io/config.mirror',
];
const CONTAINER_LISTS = ['initContainers', 'containers', 'ephemeralContainers'];
const STATUS_LISTS = ['initContainerStatuses', 'containerStatuses', 'ephemeralContainerStatuses'];

function redactContainer(container: unknown): Fields {
  return {
    ...texts(container, 'name', 'image', 'restartPolicy'),
    ...lists(container, ['volumeMounts'], (mount) => ({
      ...texts(mount, 'name', 'mountPath', 'subPath', 'subPathExpr', 'mountPropagation'),
      ...(fieldAt(mount, 'readOnly') === true ? { readOnly: true } : {}),
    })),
  };
}

/** In the order in which they were written: the key beside the name is the volume's kind. */
function redactVolume(volume: unknown): Fields {
  return Object.fromEntries(
    entries(volume).map(([key, value]) => [
      key,
      key === 'name' ? (textAt(volume, 'name') ?? null) : redactSource(value),
    ]),
  );
}

const OBJECT_NAMES = ['name', 'secretName', 'claimName', 'path', 'server', 'driver', 'medium'];
const SOURCES_IN_PROJECTED = ['secret', 'configMap', 'downwardAPI', 'serviceAccountToken'];

function redactSource(source: unknown): Fields {
  return {
    ...texts(source, ...OBJECT_NAMES),
    ...lists(source, ['sources'], (part) =>
      Object.fromEntries(
        entries(part)
          .filter(([key]) => SOURCES_IN_PROJECTED.includes(key))
          .map(([key, value]) => [key, texts(value, ...OBJECT_NAMES)]),
      ),
    ),
  };
}

function redactStatus(status: unknown, rules: RedactionRules): Fields {
  return defined({
    ...texts(status, 'name', 'image', 'containerID'),
    restartCount: numberAt(status, 'restartCount'),
    state: redactState(fieldAt(status, 'state'), rules),
    lastState: redactState(fieldAt(status, 'lastState'), rules),
  });
}

const STATE_TEXTS = ['reason', 'startedAt', 'finishedAt', 'containerID'];

function redactState(state: unknown, rules: RedactionRules): Fields {
  const kinds = ['waiting', 'running', 'terminated'].filter(
    (kind) => fieldAt(state, kind) !== undefined,
  );
  return Object.fromEntries(
    kinds.map((kind) => {
      const message = textAt(state, kind, 'message');
      const rest = defined({
        message: message === undefined ? undefined : redactMessage(message, rules),
        exitCode: numberAt(state, kind, 'exitCode'),
        signal: numberAt(state, kind, 'signal'),
      });
      return [kind, { ...texts(fieldAt(state, kind), ...STATE_TEXTS), ...rest }];
    }),
  );
}

function texts(value: unknown, ...names: readonly string[]): Fields {
  return defined(Object.fromEntries(names.map((name) => [name, textAt(value, name)])));
}

function lists(
  value: unknown,
  names: readonly string[],
  redact: (item: unknown) => Fields,
): Fields {
  return defined(Object.fromEntries(names.map((name) => [name, listAt(value, name)?.map(redact)])));
}

function entries(value: unknown): readonly (readonly [string, unknown])[] {
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}
