import { splitFlag } from './command-line.ts';

export const REDACTED = '<redacted>';

// --token, --client-key, --authorization-header, --bootstrap-kubeconfig
const PRIVATE_NAME = /token|passw|secret|key|credential|auth|header|bootstrap/i;

/** k3s takes its token also as "-t". */
const PRIVATE_SHORT_NAMES = new Set(['t']);

// mysql://user:password@tcp(db:3306)/k3s
const USER_IN_URL = /^([a-z][a-z0-9+.-]*:\/\/)[\s\S]*@/i;

/** The words of a command line without the values that are nobody's business. */
export function redactWords(words: readonly string[]): readonly string[] {
  let valueIsPrivate = false;
  return words.map((word) => {
    const isValue = valueIsPrivate && !word.startsWith('-') && word !== '';
    valueIsPrivate = false;
    if (isValue) return redactValue(word);
    const flag = splitFlag(word);
    if (!flag) return redactPair(word);
    if (flag.value === undefined) {
      valueIsPrivate = isPrivate(flag.name);
      return word;
    }
    const start = word.slice(0, word.length - flag.value.length);
    return start + (isPrivate(flag.name) ? redactValue(flag.value) : redactPair(flag.value));
  });
}

/** A value may itself be "name=value": "--kubelet-arg=token=...", "--node-labels=key=...". */
function redactPair(text: string): string {
  if (text.startsWith('/')) return text;
  return text
    .split(',')
    .map((part) => {
      const equals = part.indexOf('=');
      if (equals < 0 || !isPrivate(part.slice(0, equals))) return withoutUser(part);
      return part.slice(0, equals + 1) + redactValue(part.slice(equals + 1));
    })
    .join(',');
}

/** Where a secret is kept is no secret. */
function redactValue(value: string): string {
  return value.startsWith('/') || value === 'true' || value === 'false' ? value : REDACTED;
}

function isPrivate(name: string): boolean {
  return PRIVATE_NAME.test(name) || PRIVATE_SHORT_NAMES.has(name);
}

/** A socket has no user, though its path may hold an "@". */
export function withoutUser(text: string): string {
  return text.startsWith('unix:') ? text : text.replace(USER_IN_URL, `$1${REDACTED}@`);
}
