/**
 * Whether a runtime's words say that exactly this path could not be mounted into a container
 * because what it shows is gone. Look-alikes end in the same five words: a source path that does
 * not exist (`stat SRC: no such file or directory`), a destination that a read-only image lacks.
 */
export function saysSourceIsGone(message: string, path: string): boolean {
  const words = plainText(message);
  const source = escapeRegExp(path);
  return (
    new RegExp(`mounting "${source}" to rootfs(?: "[^"]*")? at "[^"]*"${runcEnding(source)}`).test(
      words,
    ) || new RegExp(`mount \`${source}\` to \`[^\`]*\`: no such file or directory`, 'i').test(words)
  );
}

// mounting "/var/lib/kubelet/pods/29da79e5-.../volume-subpaths/logrotateconf/nginx/1" to rootfs
// mount `/var/lib/kubelet/pods/29da79e5-.../volume-subpaths/logrotateconf/nginx/1` to `etc/nginx.log`
const MOUNTED = /mount(?:ing)? (["`])(\/[^"`]*\/volume-subpaths\/[^"`]*)\1 to /g;

/** The subPath mounts of which a runtime's words say that what they show is gone. */
export function sourcesSaidGone(message: string): readonly string[] {
  const paths = [...plainText(message).matchAll(MOUNTED)].map(([, , path = '']) => path);
  return [...new Set(paths)].filter((path) => saysSourceIsGone(message, path));
}

/** Whether a message of unknown wording speaks of this path, so that a person should read it. */
export function mentions(message: string, path: string): boolean {
  return new RegExp(`(?<![\\w./-])${escapeRegExp(path)}(?![\\w./-])`).test(plainText(message));
}

/**
 * runc to 1.0.0-rc92: ... caused "no such file or directory"
 * runc 1.0.0-rc93 to 1.0.x: ... caused: no such file or directory: unknown
 * runc 1.1: ...: mount SRC:DST (via /proc/self/fd/6), flags: 0x5000: no such file or directory: unknown
 * runc 1.2 and newer: ...: mount src=SRC, dst=DST, dstFd=/proc/thread-self/fd/8, flags=MS_BIND|MS_REC: no such ...
 */
function runcEnding(source: string): string {
  const caused = ' caused:? "?';
  // , data: context="system_u:object_r:container_file_t:s0:c1,c2"
  const flags = 'flags[:=] ?[^ :]+(?:, data[:=] ?(?:[^:"]|"[^"]*")*)?';
  const mounting = `: mount (?:src=)?${source}[:,][^"]*?${flags}: `;
  return `(?:${caused}|${mounting})no such file or directory`;
}

// mounting \\\"/var/lib/kubelet/pods/...\\\" to rootfs, as it looks after a few layers of quoting,
// and broken over lines by whatever printed it.
function plainText(message: string): string {
  return message.replace(/\\+(["`])/g, '$1').replace(/\s+/g, ' ');
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
