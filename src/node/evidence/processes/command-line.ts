/** The words of "/proc/<pid>/cmdline", each terminated by NUL. */
export function parseCommandLine(text: string): readonly string[] {
  // "/usr/bin/kubelet\0--root-dir=/var/lib/kubelet\0"
  const args = text.split('\0');
  while (args.length > 0 && args.at(-1) === '') args.pop();
  return args;
}

/**
 * All values of one flag, in order. The kubelet accepts "--flag=value" and "--flag value", for some
 * programs a single dash, and "_" for "-". Only the caller knows whether a flag takes a value, so a
 * flag is searched by name, and the command line is never parsed completely.
 */
export function flagValues(args: readonly string[], ...names: readonly string[]): string[] {
  const values: string[] = [];
  for (let index = 0; index < args.length; index += 1) {
    const word = args[index] ?? '';
    if (word === '--') break;
    const flag = splitFlag(word);
    if (!flag || !names.includes(flag.name)) continue;
    if (flag.value !== undefined) {
      values.push(flag.value);
      continue;
    }
    index += 1;
    const next = args[index];
    if (next !== undefined) values.push(next);
  }
  return values;
}

/** The last value, which takes effect. */
export function flagValue(
  args: readonly string[],
  ...names: readonly string[]
): string | undefined {
  return flagValues(args, ...names).at(-1);
}

/** For flags without a value, such as "--version" and "--disable-agent". */
export function hasFlag(args: readonly string[], name: string): boolean {
  return args.some((word) => {
    const flag = splitFlag(word);
    return flag?.name === name && flag.value !== 'false';
  });
}

// --container-runtime-endpoint=unix:///run/containerd/containerd.sock
const FLAG = /^--?([A-Za-z][A-Za-z0-9._-]*)(?:=([\s\S]*))?$/;

export function splitFlag(
  word: string,
): { readonly name: string; readonly value: string | undefined } | undefined {
  const found = FLAG.exec(word);
  if (!found) return undefined;
  return { name: (found[1] ?? '').replaceAll('_', '-'), value: found[2] };
}

/** The first word after the program that is not a flag: "server" in "k3s server --debug". */
export function subCommand(args: readonly string[]): string | undefined {
  return args.slice(1).find((word) => !word.startsWith('-'));
}

/** The last part of a path: "kubelet" of "/usr/bin/kubelet". */
export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
