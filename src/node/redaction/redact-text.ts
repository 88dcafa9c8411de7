import { splitFlag } from '../evidence/processes/command-line.ts';
import { REDACTED } from '../model/redaction.ts';

// --token, --client-key, --authorization-header, --bootstrap-kubeconfig, signature=...
const PRIVATE_NAME = /token|passw|pwd|secret|key|credential|auth|header|bootstrap|signature/i;

/** k3s takes its token also as "-t"; the others are parts of signed addresses. */
const PRIVATE_SHORT_NAMES = new Set(['t', 'sig', 'sas']);

// --tls-private-key-file, --bootstrap-kubeconfig, --image-credential-provider-bin-dir
const NAME_OF_PLACE = /(?:file|path|dir|config)$/i;

// mysql://user:password@tcp(db:3306)/k3s; a password may hold anything, also a comma or a slash.
const USER_IN_URL = /([a-z][a-z0-9+.-]{0,20}:\/\/)[\s\S]*@/i;

// https://log.example/in?sv=1&sig=bm8gc2VjcmV0#token=x
const QUERY_IN_URL = /(:\/\/[^?#]*[?#])[\s\S]+/;

// /in?sv=1&sig=bm8gc2VjcmV0
const QUERY = /\?[^=]*=[\s\S]*/;

// -Zm9vYmFyYmF6: what begins with one dash and is longer than a flag of one letter
const VALUE_WITH_DASH = /^-[^-=][^=]+$/;

/** The words of a command line without the values that are nobody's business. */
export function redactText(args: readonly string[]): readonly string[] {
  let nameBefore: string | undefined;
  return args.map((word) => {
    const name = nameBefore;
    nameBefore = undefined;
    const isValue = !word.startsWith('-') || VALUE_WITH_DASH.test(word);
    if (name !== undefined && isValue && word !== '') return redactValue(name, word);
    const flag = splitFlag(word);
    if (!flag) return redactPairs(word);
    if (flag.value === undefined) {
      if (isPrivate(flag.name)) nameBefore = flag.name;
      return word;
    }
    return `${word.slice(0, word.length - flag.value.length)}${
      isPrivate(flag.name) ? redactValue(flag.name, flag.value) : redactPairs(flag.value)
    }`;
  });
}

/** A value may itself be "name=value": "--kubelet-arg=token=...", "--node-labels=key=...". */
function redactPairs(text: string): string {
  // First as a whole: what is private in an address may hold all that separates pairs.
  return withoutPrivateParts(text)
    .replace(QUERY, `?${REDACTED}`)
    .split(/([,;&\s])/)
    .map(redactPair)
    .join('');
}

// kubelet-arg=node-labels=api-key=...
function redactPair(pair: string): string {
  const parts = pair.split('=');
  const at = parts.slice(0, -1).findIndex(isPrivate);
  if (at < 0) return pair;
  const value = parts.slice(at + 1).join('=');
  return [...parts.slice(0, at + 1), redactValue(parts[at] ?? '', value)].join('=');
}

/** The path of a secret is no secret; but base64 sometimes starts with a slash. */
export function redactValue(name: string, value: string): string {
  const isPlace = NAME_OF_PLACE.test(name) && value.startsWith('/');
  if (isPlace) return withoutPrivateParts(value);
  return value === 'true' || value === 'false' || value === '' ? value : REDACTED;
}

function isPrivate(name: string): boolean {
  return PRIVATE_NAME.test(name) || PRIVATE_SHORT_NAMES.has(name);
}

/** An address without its user and its query. A socket has neither, though its path may hold "@". */
export function withoutPrivateParts(text: string): string {
  if (text.startsWith('unix:') && text.indexOf('://') === text.lastIndexOf('://')) return text;
  return text.replace(USER_IN_URL, `$1${REDACTED}@`).replace(QUERY_IN_URL, `$1${REDACTED}`);
}
