import { fieldAt, listAt, numberAt, textAt } from '../../lib/std/json.ts';
import { jsonValue } from '../../lib/std/json-value.ts';
import { REDACTED } from '../model/redaction.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * What a runtime knows of a container beyond CRI, reduced to what a person needs who wants to know
 * what it is: image, program, names. Its arguments stay on the node: no list of names could ever
 * cover all the ways to pass a secret to a program. Before a removal we save the complete
 * of it beside the journal.
 */
export function redactInspect(info: unknown): Fields {
  const text = textAt(info, 'info');
  if (text === undefined) return {};
  const parsed = jsonValue(text);
  return { info: parsed ? JSON.stringify(stored(parsed.value)) : REDACTED };
}

function stored(value: unknown): Fields {
  const config = fieldAt(value, 'config');
  return {
    ...known('pid', numberAt(value, 'pid')),
    ...known('sandboxID', textAt(value, 'sandboxID')),
    ...known('runtimeType', textAt(value, 'runtimeType')),
    config: {
      ...known('image', textAt(config, 'image', 'image')),
      ...known('working_dir', textAt(config, 'working_dir')),
      ...known('log_path', textAt(config, 'log_path')),
      command: onlyProgram(texts(listAt(config, 'command'))),
      args: withheld(texts(listAt(config, 'args'))),
      envs: (listAt(config, 'envs') ?? []).map((env) => ({
        ...known('key', textAt(env, 'key')),
        value: REDACTED,
      })),
      mounts: (listAt(config, 'mounts') ?? []).map((mount) => ({
        ...known('container_path', textAt(mount, 'container_path')),
        ...(fieldAt(mount, 'readonly') === true ? { readonly: true } : {}),
      })),
    },
  };
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

function known(name: string, value: unknown): Fields {
  return value === undefined ? {} : { [name]: value };
}

function texts(list: readonly unknown[] = []): readonly string[] {
  return list.filter((item) => typeof item === 'string');
}
