import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { redactSentence } from './redact-prose.ts';

const NAMES = [
  ...['pass', 'passwd', 'password', 'pwd', 'pw', 'token', 'secret', 'key', 'credential'],
  ...['DB_PASS', 'db-pw', 'client_secret', 'apiKey', 'AWS_SECRET_ACCESS_KEY', 'requirepass'],
  ...[
    'spring.datasource.password',
    'credentials',
    'access_token',
    'Authorization',
    'userPassword2',
  ],
];

const FORMS: readonly ((name: string, value: string) => string)[] = [
  (name, value) => `${name}=${value}`,
  (name, value) => `${name}: ${value}`,
  (name, value) => `${name}:${value}`,
  (name, value) => `${name} = ${value}`,
  (name, value) => `"${name}":"${value}"`,
  (name, value) => `"${name}": "${value}"`,
  (name, value) => `{\\"${name}\\":\\"${value}\\"}`,
  (name, value) => `'${name}': '${value}'`,
  (name, value) => `${name}="my ${value}"`,
  (name, value) => `${name}=\\"my ${value}\\"`,
  (name, value) => `err="bad flag: --${name} ${value}"`,
  (name, value) => `--${name} ${value}`,
  (name, value) => `--${name}=${value}`,
  (name, value) => `-${name} ${value}`,
  (name, value) => `["app","--${name}","${value}"]`,
  (name, value) => `[\\"app\\", \\"--${name}\\", \\"${value}\\"]`,
  (name, value) => `export ${name}=${value}; app`,
  (name, value) => `GET /in?x=1&${name}=${value}`,
];

const NAMELESS: readonly ((value: string) => string)[] = [
  (value) => `mysql -uroot -p${value} shop`,
  (value) => `["mysql","-p${value}"]`,
  (value) => `curl -u svc:${value} https://h.example/`,
  (value) => `curl --user svc:${value}`,
  (value) => `smbclient -U svc%${value}`,
  (value) => `mount failed: user=svc%${value}`,
  (value) => `dial svc:${value}@db:3306: refused`,
  (value) => `mysql://svc:${value}@tcp(db:3306)/shop`,
  (value) => `Authorization: Bearer ${value}`,
  (value) => `"Authorization: Basic ${value}"`,
  (value) => `authorization: Token ${value}`,
  (value) => `-H 'X-Auth: bearer ${value}'`,
  (value) => `signed with AKIAIOSFODNN${value.toUpperCase()}`,
];

/** A word that no sentence holds by chance. */
const secret = fc
  .stringMatching(/^[A-Za-z0-9][A-Za-z0-9/+_.!$*#-]{0,12}[A-Za-z0-9]$/)
  .map((text) => `Hunter${text.replaceAll(/[^A-Za-z0-9]/g, 'x')}`);
const around = fc.constantFrom('', 'cannot start: ', 'E0602 09:35:55.243111 812 x.go:1] ', '(');

describe('whatever a program says, what it was given in secret is not in it', () => {
  test('by name', () => {
    const form = fc.constantFrom(...FORMS);
    fc.assert(
      fc.property(around, form, fc.constantFrom(...NAMES), secret, (before, say, name, value) => {
        const safe = redactSentence(`${before}${say(name, value)} after`);
        expect(safe).not.toContain(value);
        expect(redactSentence(safe)).toBe(safe);
      }),
      { numRuns: 3_000 },
    );
  });

  test('without a name', () => {
    fc.assert(
      fc.property(around, fc.constantFrom(...NAMELESS), secret, (before, say, value) => {
        const safe = redactSentence(`${before}${say(value)} after`);
        const reported = safe.includes(value) || safe.includes(value.toUpperCase());
        expect(reported, safe).toBe(false);
        expect(redactSentence(safe)).toBe(safe);
      }),
      { numRuns: 2_000 },
    );
  });
});

test.each([
  'remove /var/lib/kubelet/pods/6eca/volumes/kubernetes.io~secret/token: device or resource busy',
  'open /etc/kubernetes/kubelet.key: no such file or directory',
  'E0602 09:35:55.243111     812 x.go:1] "SyncLoop" pod="default/token-reader-0" worker=1',
  'pulling docker.io/library/nginx:1.27@sha256:4f0c2a9e1b7d8',
  '--tls-private-key-file=/etc/kubernetes/kubelet.key --authentication-token-webhook=true',
  'disk is 95% full, path /var/lib/a%2Fb',
  'secret "default/token" not found',
])('stays as it is: %s', (text) => {
  expect(redactSentence(text)).toBe(text);
});

test('costs no more than its length', () => {
  const begun = performance.now();
  for (const piece of ['key', 'a:', '"token":', '-p', 'a%', '--pass ', '\\"', 'eyJ.', '@:']) {
    redactSentence(piece.repeat(20_000));
  }
  expect(performance.now() - begun).toBeLessThan(3_000);
});
