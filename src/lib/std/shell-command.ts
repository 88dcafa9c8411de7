/** A shell command line that gives exactly these arguments. */
export function shellCommand(args: readonly string[]): string {
  return args.map(quoted).join(' ');
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
