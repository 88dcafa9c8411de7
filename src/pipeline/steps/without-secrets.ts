import { jsonValue } from '../../lib/std/json.ts';
import { REDACTED } from '../../node/model/redaction.ts';
import { redactText } from '../../node/redaction/redact-text.ts';

/** Holds a whole pod once more, as somebody applied it. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * A pod as it may be stored in a status that more people read than may read the pod: words of commands
 * and values of the environment that are private by their name, or are part of an address, are
 * withheld. The rest is unchanged, so every field is where it belongs.
 */
export function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value !== 'object' || value === null) return value;
  const { name, value: own } = value as Readonly<Record<string, unknown>>;
  // {"name":"DB_PASSWORD","value":"x"}, of an environment or of a probe's headers
  const isPair = typeof name === 'string' && typeof own === 'string';
  return Object.fromEntries(
    Object.entries(value).map(([key, each]): [string, unknown] => {
      if (key === LAST_APPLIED) return [key, REDACTED];
      if (isPair && key === 'value') return [key, withheldIn(name, own)];
      if ((key === 'command' || key === 'args') && isWords(each)) return [key, redactText(each)];
      return [key, withoutSecrets(each)];
    }),
  );
}

function isWords(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

/** As if it stood on a command line: there is one place that knows which names are private. */
function withheldIn(name: string, value: string): string {
  const flag = `--x-${name.replaceAll(/[^A-Za-z0-9]/g, '-')}=`;
  const [word = ''] = redactText([`${flag}${value}`]);
  const text = word.slice(flag.length);
  // {"db":{"password":"x"}}, which is a configuration in one value
  const inner = text.startsWith('{') ? jsonValue(text)?.value : undefined;
  return inner === undefined ? text : JSON.stringify(withoutPrivateFields(inner));
}

function withoutPrivateFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutPrivateFields);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]): [string, unknown] => [
      key,
      typeof each === 'string' ? withheldIn(key, each) : withoutPrivateFields(each),
    ]),
  );
}
