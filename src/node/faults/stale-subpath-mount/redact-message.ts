import { REDACTED } from '../../model/redaction.ts';

/**
 * Retains the parts of a mount error: the path of the subPath mount, its target, and the vocabulary
 * of runtimes. Every other word is replaced, and the punctuation stays, so that `mount-error.ts` finds
 * the same in the redacted message. Undefined when the message names no subPath mount.
 */
export function redactMountError(message: string): string | undefined {
  if (!SUBPATH_MOUNT.test(message)) return undefined;
  let safe = '';
  let end = 0;
  for (const sentence of message.matchAll(RETAINED)) {
    safe += redactTextOf(message.slice(end, sentence.index)) + sentence[0];
    end = sentence.index + sentence[0].length;
  }
  return safe + redactTextOf(message.slice(end));
}

// /var/lib/kubelet/pods/29da79e5-386c-4e0d-82c1-215f93ff955d/volume-subpaths/settings/app/1
const SUBPATH =
  '(?<![\\p{L}\\p{M}\\p{N}_./@+~-])\\/[\\p{L}\\p{M}\\p{N}_./@+~-]*\\/pods\\/[\\w.-]+\\/volume-subpaths\\/[\\w./-]+';
const SUBPATH_MOUNT = new RegExp(SUBPATH, 'u');

// mounting \\\"/var/.../volume-subpaths/a/b/1\\\" to rootfs \\\"/run/.../rootfs\\\" at \\\"/etc/x\\\"
const QUOTED = '\\\\*"[^"\\\\]*\\\\*"';
const MOUNTING = `mounting\\s+\\\\*"${SUBPATH}\\\\*"\\s+to\\s+rootfs(?:\\s+${QUOTED})?\\s+at\\s+${QUOTED}`;
// mount /var/.../volume-subpaths/a/b/1:/etc/x (via /proc/self/fd/6), flags: 0x5000: no such file
// mount src=/var/.../volume-subpaths/a/b/1, dst=/etc/x, dstFd=/proc/thread-self/fd/8, flags=0x5000
const TO = '(?::|,\\s+dst=)\\/[^\\s:,"\'`\\\\]+';
const MOUNT = `mount\\s+(?:src=)?${SUBPATH}${TO}`;
// mount `/var/.../volume-subpaths/a/b/1` to `etc/x`: No such file or directory
const MOUNT_OF_CRUN = `mount\\s+\`${SUBPATH}\`\\s+to\\s+\`[^\`]*\``;

const RETAINED = new RegExp([MOUNTING, MOUNT, MOUNT_OF_CRUN, SUBPATH].join('|'), 'giu');

// "OCI", "container_linux.go" and "348" of: OCI runtime create failed: container_linux.go:348: ...
const WORD = /[^\s"'`\\:,;=|()<>]+/g;

// container_linux.go, 0x5000, MS_BIND, /proc/self/fd/6, /proc/thread-self/fd/8
const OF_RUNTIMES =
  /^(?:[a-z]+_linux\.go|0x[0-9a-f]{1,8}|MS_[A-Z]+|\/proc\/(?:thread-)?self\/fd\/\d+)$/;

// rootfs_linux.go:58
const LINE_OF_SOURCE = /(?<=_linux\.go:)\d{1,5}(?!\w)/y;

const VOCABULARY: ReadonlySet<string> = new Set(
  [
    'a an and argument as at bind caused code container containerd crun could create created data',
    'denied desc device directory dst during error exec exist exists failed fd file flags for from',
    'has id in init invalid io is it its link loop make mkdirat mount mounted mounting mountpoint no',
    'not of oci on open openat openat2 operation or path permission permitted plain process read',
    'read-only redacted rootfs rpc runc runtime shim source src stale start starting stat such system',
    'target task the through to unable unknown via volume was with',
    'dstfd srcfd srctype',
  ].flatMap((line) => line.split(' ')),
);

function redactTextOf(text: string): string {
  return text.replace(WORD, (word, at: number) => {
    LINE_OF_SOURCE.lastIndex = at;
    if (OF_RUNTIMES.test(word) || LINE_OF_SOURCE.test(text)) return word;
    // The end of a sentence: "no such file or directory."
    return VOCABULARY.has(word.toLowerCase().replace(/[.!?]+$/, '')) ? word : REDACTED;
  });
}
