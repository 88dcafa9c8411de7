import { fieldAt, listAt, numberAt, textAt } from '../std/json.ts';
import { REDACTED, redactWords } from './redact-words.ts';
import { jsonValue } from './text-value.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * What a runtime knows of a container beyond CRI, reduced to what a person needs who has to make it
 * anew: image, command, mounts. Values of the environment do not leave the node.
 */
export function redactInspect(info: unknown): Fields {
  const text = textAt(info, 'info');
  if (text === undefined) return {};
  const parsed = jsonValue(text);
  return { info: parsed ? JSON.stringify(kept(parsed.value)) : REDACTED };
}

function kept(value: unknown): Fields {
  const config = fieldAt(value, 'config');
  return {
    ...known('pid', numberAt(value, 'pid')),
    ...known('sandboxID', textAt(value, 'sandboxID')),
    ...known('runtimeType', textAt(value, 'runtimeType')),
    config: {
      ...known('image', textAt(config, 'image', 'image')),
      ...known('working_dir', textAt(config, 'working_dir')),
      ...known('log_path', textAt(config, 'log_path')),
      command: redactWords(texts(listAt(config, 'command'))),
      args: redactWords(texts(listAt(config, 'args'))),
      envs: (listAt(config, 'envs') ?? []).map((env) => ({
        ...known('key', textAt(env, 'key')),
        value: REDACTED,
      })),
      mounts: (listAt(config, 'mounts') ?? []).map((mount) => ({
        ...known('container_path', textAt(mount, 'container_path')),
        ...known('host_path', textAt(mount, 'host_path')),
        ...(fieldAt(mount, 'readonly') === true ? { readonly: true } : {}),
      })),
    },
  };
}

function known(name: string, value: unknown): Fields {
  return value === undefined ? {} : { [name]: value };
}

function texts(list: readonly unknown[] = []): readonly string[] {
  return list.filter((item) => typeof item === 'string');
}
