import { REDACTED } from '../model/redaction.ts';
import { redactValue, withoutPrivateParts } from './redact-text.ts';

// Authorization: Bearer ZXlKaGJHY2k
const BEARER = /\b(bearer|basic|negotiate)\s+(?!auth)[^\s"',;]+/gi;

// mysql -uroot -pHunter2
const SHORT_PASSWORD = /(?<=^|[\s"'[(])-p[^\s"'=-][^\s"']*/g;

// curl -u svc:Hunter2
const SHORT_USER = /(?<=^|[\s"'[(])(-u\s*|--user[\s=]+)([^\s:"'/]+):[^\s"']+/g;

// smbclient -U svc%Hunter2; user=svc%Hunter2
const USER_PERCENT = /(?<=^|[\s"'=:])([A-Za-z][\w.\\-]*)%[^\s"',;]+/g;

// AKIAIOSFODNN7EXAMPLE, eyJhbGciOi.eyJzdWIi.c2ln, ghp_16C7e42F292c6912E7, glpat-x, xoxb-1
const KNOWN_SECRET =
  /\b(?:(?:AKIA|ASIA)[A-Z0-9]{8,}|eyJ[\w-]{6,}(?:\.[\w-]*){0,2}|gh[pousr]_\w{10,}|glpat-[\w-]{8,}|xox[abprs]-[\w-]{8,})/g;

// -----BEGIN RSA PRIVATE KEY-----MIIE...-----END RSA PRIVATE KEY-----
const PRIVATE_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*-----|$)/g;

/** A message of a program, which may contain its input in any notation. */
export function redactSentence(text: string): string {
  const plain = text
    .replace(PRIVATE_KEY, REDACTED)
    .replace(/\S+/g, withoutPrivateParts)
    .replace(BEARER, `$1 ${REDACTED}`);
  // Names first: "-pass X" is no "-p" with "ass".
  return withoutPrivateValues(plain)
    .replace(SHORT_PASSWORD, `-p${REDACTED}`)
    .replace(SHORT_USER, `$1$2:${REDACTED}`)
    .replace(USER_PERCENT, `$1%${REDACTED}`)
    .replace(/[^\s"']+/g, withoutUser)
    .replace(KNOWN_SECRET, REDACTED);
}

// svc: of svc:Hunter2@db:3306
const USER = /(?:^|[^\w.+-])[A-Za-z][\w.+-]*:(?!\/)/;

/** The same without an address around it; but not nginx:1.27@sha256:4f0c. */
function withoutUser(word: string): string {
  const at = word.lastIndexOf('@');
  if (at < 0 || word.startsWith('sha256:', at + 1)) return word;
  const user = USER.exec(word.slice(0, at));
  if (!user) return word;
  return `${word.slice(0, user.index + user[0].length)}${REDACTED}${word.slice(at)}`;
}

// DB_PASS, spring.datasource.password, client_secret, --requirepass, api-key, credentials
const PRIVATE =
  /passw|passphrase|passcode|pass$|pass[._-]|pwd|token|secret|key|cred(?:ential)?s?$|credential|authorization|auth$|signature|jwt|cookie|(?:^|[._-])(?:pw|sig|sas)$/i;

/** A name, and what stands between it and a value: k=v, k: v, "k":"v", --k v, ["--k","v"]. */
const NAME = /(?<![\w.-])[\w.-]+/g;
// `=`, `: `, `":"`, `\": \"`
const SEPARATOR = /\\*["']?\s*(?::=|[:=])\s*/y;
// ` ` of --pass X; `","` of ["--pass","X"]
const AFTER_FLAG = /\s+(?=[^\s-])|\\*["']\s*,?\s*(?=\\*["'])/y;

// "my pass", \"my pass\", 'x'; Hunter2
const VALUE = /"(?:[^"\\]|\\[\s\S])*"?|'[^']*'?|\\+["'][^"']*(?:["']|$)|[^\s"']+/y;
// Token ZXlKaGJHY2k
const SCHEME_AND_VALUE = /[A-Za-z]+\s+[^\s"']+/y;

/** One pass over the text: each value is checked once, and never inside itself. */
function withoutPrivateValues(text: string): string {
  let safe = '';
  let end = 0;
  for (const { 0: name, index } of text.matchAll(NAME)) {
    if (index < end || !PRIVATE.test(name)) continue;
    const at = endOfSeparator(text, name, index);
    const value = at === undefined ? undefined : valueAt(text, name, at);
    if (at === undefined || value === undefined) continue;
    safe += text.slice(end, at) + withoutValue(name, value);
    end = at + value.length;
  }
  return safe + text.slice(end);
}

function endOfSeparator(text: string, name: string, index: number): number | undefined {
  const behind = index + name.length;
  const [said] = matchAt(SEPARATOR, text, behind) ?? [];
  if (said !== undefined) {
    // remove /var/lib/kubelet/pods/6eca/volumes/kubernetes.io~secret/token: device or resource busy
    const isEndOfPath = said.includes(':') && /[/~]/.test(text[index - 1] ?? '');
    return isEndOfPath ? undefined : behind + said.length;
  }
  if (!name.startsWith('-')) return undefined;
  const [gap] = matchAt(AFTER_FLAG, text, behind) ?? [];
  return gap === undefined ? undefined : behind + gap.length;
}

function valueAt(text: string, name: string, at: number): string | undefined {
  const isHeader = /authorization$/i.test(name);
  const both = isHeader ? matchAt(SCHEME_AND_VALUE, text, at) : undefined;
  return (both ?? matchAt(VALUE, text, at))?.[0];
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

// "Hunter2", \"Hunter2\": the marks around it stay
const MARKS = /^(\\*["']?)([\s\S]*?)(\\*["']?)$/;

function withoutValue(name: string, value: string): string {
  const [, before = '', inner = '', after = ''] = MARKS.exec(value) ?? [];
  return inner === '' ? value : `${before}${redactValue(name, inner)}${after}`;
}
