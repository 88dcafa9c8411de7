import { copyFileSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const UMOUNT = existsSync('/usr/bin/umount') ? '/usr/bin/umount' : '/bin/umount';
export const REAL_UMOUNT = 'umount.real';
export const MARK = 'umount-was-run';

/** Does what the real one does, and leaves a mark. */
export function markingUmount(scratch: string): string {
  return umountScript(scratch, `echo "$*" >> ${join(scratch, MARK)}`);
}

/** An umount that first runs these lines; others when it is only asked for its help. */
export function umountScript(scratch: string, lines: string, helpLines = lines): string {
  const [real, path] = [join(scratch, REAL_UMOUNT), join(scratch, 'umount')];
  copyFileSync(UMOUNT, real);
  const script = `#!/bin/sh
case "$*" in *--help*) ${helpLines}; exec ${real} --help;; esac
${lines}
exec ${real} "$@"
`;
  writeFileSync(path, script, { mode: 0o755 });
  return path;
}
