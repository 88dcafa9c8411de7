import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fixtureAt, fixturePaths } from '../../../../test/fault-fixtures.ts';
import { redactMessage as redact } from '../../redaction/redact-message.ts';
import { redactionRules } from '../index.ts';
import { mentions, saysSourceIsGone } from './mount-error.ts';

const redactMessage = (message: string) => redact(message, redactionRules);

const SECRET = 'hunter2';
const SRC = '/var/lib/kubelet/pods/b9ffd644-af98/volume-subpaths/extra-cfg/puppetdb/2';

describe('what an application or a registry said', () => {
  test.each([
    `cannot reach postgres://app:${SECRET}@db:5432/shop`,
    `panic: token ${SECRET} was refused`,
    `failed to pull https://blob.example/layer?sv=1&sig=${SECRET}: 403`,
    `error mounting "/data/${SECRET}" to rootfs at "/etc/x": no such file or directory`,
    SECRET,
  ])('is withheld: %s', (message) => {
    expect(redactMessage(message)).toBe('<redacted>');
  });

  test.each([
    `cannot open ${SRC}: password ${SECRET} for user me`,
    `error mounting "${SRC}" to rootfs at "/etc/x": stat ${SRC}: ${SECRET}`,
    `${SECRET}: mount ${SRC}:/etc/x, flags: 0x1, data: ${SECRET}: no such file or directory`,
    `https://me:${SECRET}@host?sig=${SECRET} ${SRC}`,
    `x_linux.go:58 ${SRC} code:${SECRET}`,
  ])('is withheld beside a mount: %s', (message) => {
    expect(redactMessage(message)).not.toContain(SECRET);
    expect(mentions(redactMessage(message), SRC)).toBe(true);
  });
});

describe('what a runtime says of a mount stays as it is', () => {
  test.each([
    `OCI runtime create failed: container_linux.go:348: starting container process caused "process_linux.go:402: container init caused \\"rootfs_linux.go:58: mounting \\\\\\"${SRC}\\\\\\" to rootfs \\\\\\"/var/lib/docker/overlay2/c8/merged\\\\\\" at \\\\\\"/etc/extra.ini\\\\\\" caused \\\\\\"no such file or directory\\\\\\"\\"": unknown`,
    `rootfs_linux.go:59: mounting "${SRC}" to rootfs at "/etc/x" caused: no such file or directory: unknown`,
    `failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: error during container init: error mounting "${SRC}" to rootfs at "/etc/my app.conf": mount ${SRC}:/etc/x (via /proc/self/fd/6), flags: 0x5000: no such file or directory: unknown`,
    `error mounting "${SRC}" to rootfs at "/etc/x": mount src=${SRC}, dst=/etc/x, dstFd=/proc/thread-self/fd/8, flags=MS_BIND|MS_REC: no such file or directory`,
    `crun: mount \`${SRC}\` to \`etc/x\`: No such file or directory: OCI runtime error`,
    `error mounting "${SRC}" to rootfs at "/etc/x": permission denied: unknown`,
    '',
  ])('%s', (message) => {
    expect(redactMessage(message)).toBe(message);
  });
});

test('every message in the recorded nodes says the same of every mount', async () => {
  let count = 0;
  const compare = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, item] of Object.entries(value)) {
      if (key !== 'message' || typeof item !== 'string' || item === '') {
        compare(key === 'body' && String(item).startsWith('{') ? JSON.parse(String(item)) : item);
        continue;
      }
      const path = /\/[^"\s:`\\]*\/volume-subpaths\/[\w./-]+/.exec(item)?.[0] ?? '/none';
      expect(saysSourceIsGone(redactMessage(item), path)).toBe(saysSourceIsGone(item, path));
      expect(mentions(redactMessage(item), path)).toBe(mentions(item, path));
      count += 1;
    }
  };
  const isStale = (path: string) => path.startsWith('stale-subpath-mount/');
  for (const path of (await fixturePaths()).filter(isStale)) {
    const { recording } = await fixtureAt(path);
    for (const recorded of recording.answers.values()) compare(recorded);
  }
  expect(count).toBeGreaterThan(15);
});

test('whatever a message contains, it says the same about a mount and has no secret', () => {
  const piece = fc.constantFrom(
    ...[SRC, `${SRC}0`, `"${SRC}"`, `\\"${SRC}\\"`, `\`${SRC}\``, `src=${SRC},`, `${SRC}:/etc/x`],
    ...['mounting', 'mount', 'to rootfs', 'to', 'at "/etc/x"', 'at', 'flags: 0x5000:', 'flags='],
    ...['caused', 'caused:', 'caused "', '"', '`etc/x`:', ':', ', data: a="b:c":', '(via'],
    ...['no such file or directory', 'no such file or directory:', SECRET, `"${SECRET}"`],
    ...[
      `${SECRET}:`,
      `at "${SECRET}"`,
      `https://a:${SECRET}@b`,
      '\n',
      '<redacted>',
      '😀',
      '\udcff',
    ],
  );
  const known = fc.constantFrom(
    `error mounting "${SRC}" to rootfs at "/etc/x": mount ${SRC}:/etc/x,`,
    `mounting "${SRC}" to rootfs at "/etc/x" caused: no such file or directory`,
    `mount \`${SRC}\` to \`etc/x\`: No such file or directory`,
  );
  const pieces = fc.array(fc.oneof({ weight: 6, arbitrary: piece }, known), { maxLength: 14 });
  fc.assert(
    fc.property(pieces, (text) => {
      const message = text.join(' ');
      const safe = redactMessage(message);
      expect(saysSourceIsGone(safe, SRC)).toBe(saysSourceIsGone(message, SRC));
      expect(mentions(safe, SRC)).toBe(mentions(message, SRC));
      expect(redactMessage(safe)).toBe(safe);
      // The target of a mount is retained, and the author of that message may write anything there.
      if (!message.includes(`at "${SECRET}"`)) expect(safe).not.toContain(SECRET);
    }),
    { numRuns: 2_000 },
  );
});

test('a hostile message costs no more than its length', () => {
  const long = `${`@/mounting "${SRC}" to rootfs at `.repeat(3_000)}${'/pods/a/'.repeat(20_000)}`;
  const begun = performance.now();
  redactMessage(long);
  expect(performance.now() - begun).toBeLessThan(2_000);
});
