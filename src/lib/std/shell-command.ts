/** Words as a person can paste them into a shell, and get exactly these words. */
export function shellCommand(args: readonly string[]): string {
  return args.map(quoted).join(' ');
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
