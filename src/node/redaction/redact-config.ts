import { CONFIG_KEYS, KUBELET_FLAGS } from '../evidence/kubelet/kubelet-config.ts';
import { CONFIG_DEPTH_MAX } from '../evidence/limits.ts';
import { yamlValue } from '../evidence/text/yaml-value.ts';
import { REDACTED } from '../model/redaction.ts';
import { redactText, withoutPrivateParts } from './redact-text.ts';

/** A text that no parser of ours accepts, for one that none accepted. */
const UNREADABLE = '[redacted';

// # comment
// --root-dir=${SNAP_COMMON}/var/lib/kubelet
const ARGUMENTS = /^\s*(?:#[^\n]*\n\s*)*--[A-Za-z]/;

/** A file of configuration with the settings that we read; of all others only the names stay. */
export function redactConfig(text: string): string {
  if (text.trim() === '') return text;
  if (ARGUMENTS.test(text)) return redactArguments(text);
  const parsed = yamlValue(text);
  if (!parsed) return UNREADABLE;
  return JSON.stringify(redactSetting('', parsed.value, new Set()));
}

function redactArguments(text: string): string {
  const lines = text.split('\n').filter((line) => !line.trimStart().startsWith('#'));
  const words = lines.flatMap((line) => line.split(/\s+/)).filter((word) => word !== '');
  return `${redactText(words).join('\n')}\n`;
}

/** `above` are the values that hold this one: an alias of YAML can put a value into itself. */
function redactSetting(key: string, value: unknown, above: ReadonlySet<unknown>): unknown {
  if (value === null || value === undefined) return null;
  if (typeof value !== 'object') return redactScalar(key, value);
  if (above.has(value) || above.size >= CONFIG_DEPTH_MAX) return REDACTED;
  const inside = new Set(above).add(value);
  if (Array.isArray(value)) return value.map((item) => redactSetting(key, item, inside));
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, redactSetting(name, item, inside)]),
  );
}

const PORTS = new Set(['port', 'readOnlyPort']);
const KUBELET_FLAG_NAMES: ReadonlySet<string> = new Set(Object.values(KUBELET_FLAGS));

function redactScalar(key: string, value: unknown): unknown {
  if (key === 'kubelet-arg' || key === 'kubelet-arg+') return redactArgument(String(value));
  // An empty value says nothing; a replay must not take it for a setting.
  if (!CONFIG_KEYS.has(key)) return value === '' ? '' : REDACTED;
  if (PORTS.has(key)) return Number.isFinite(Number(value)) ? value : REDACTED;
  // Our parsers read texts here and pass over anything else.
  return typeof value === 'string' ? withoutPrivateParts(value) : null;
}

// root-dir=/data/kubelet
function redactArgument(argument: string): string {
  const equals = argument.indexOf('=');
  const name = equals < 0 ? argument : argument.slice(0, equals);
  if (KUBELET_FLAG_NAMES.has(name)) return argument;
  return equals < 0 ? argument : `${name}=${REDACTED}`;
}
