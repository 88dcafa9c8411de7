/** A deletion or rename; fields that the text does not show are not set. */
export interface Deletion {
  /** "unlinkat", "rmdir", "renameat2"... */
  readonly call?: string | undefined;
  /** The name that the caller passed to the kernel: "bin", "/var/log/pods/x". */
  readonly name?: string | undefined;
  /** The directory that a relative name starts at. */
  readonly folder?: string | undefined;
  /** "done", or the error: "ENOTEMPTY". */
  readonly result?: string | undefined;
  readonly pid?: number | undefined;
  readonly process?: string | undefined;
}

/** A call that deletes or renames, in a line of strace. */
export interface StraceCall {
  readonly deletion: Deletion;
  /** Caller and call, if the line ends before the call returned. */
  readonly unfinishedAs?: string;
  /** Caller and call that this line completes. */
  readonly resumes?: string;
}

// 31022 14:03:22.123456 unlinkat(AT_FDCWD, "bin", 0) = 0
// [pid 31022] unlinkat(AT_FDCWD</>, "boot", 0) = -1 EISDIR (Is a directory)
// [pid 31022<edgecore>] rmdir("boot" <unfinished ...>
const CALL =
  /^(?:\[pid +(\d+)(?:<([^>]*)>)?\] |(\d+)(?:<([^>]*)>)? +)?(?:[\d:.]+ )?(unlinkat|unlink|rmdir|renameat2|renameat|rename)\((.*)$/;

// 31022 <... unlinkat resumed>) = -1 ENOENT (No such file or directory)
const RESUMED =
  /^(?:\[pid +(\d+)(?:<[^>]*>)?\] |(\d+)(?:<[^>]*>)? +)?(?:[\d:.]+ )?<\.\.\. (unlinkat|unlink|rmdir|renameat2|renameat|rename) resumed>(.*)$/;

// AT_FDCWD</var/lib/edgecore>, "bin", 0) = 0
const FIRST_NAME = /^(?:(AT_FDCWD|-?\d+)(?:<([^>]*)>)?, )?"((?:[^"\\]|\\.)*)"/;

// ) = -1 ENOTEMPTY (Directory not empty)
const RESULT = /\) += (-?\d+)(?: ([A-Z]\w+))?/;

/** undefined for any other line. */
export function straceCallIn(line: string): StraceCall | undefined {
  const resumed = RESUMED.exec(line);
  if (resumed) {
    const [, bracketed, plain, call = '', rest = ''] = resumed;
    return { deletion: { result: resultIn(rest) }, resumes: `${bracketed ?? plain} ${call}` };
  }
  const [, bracketed, bracketedName, plain, plainName, call, rest = ''] = CALL.exec(line) ?? [];
  if (call === undefined) return undefined;
  const [, , folder, quoted] = FIRST_NAME.exec(rest) ?? [];
  if (quoted === undefined) return undefined;
  const pid = bracketed ?? plain;
  return {
    deletion: {
      call,
      name: unescaped(quoted),
      folder,
      result: resultIn(rest),
      pid: pid === undefined ? undefined : Number(pid),
      process: bracketedName ?? plainName,
    },
    ...(rest.endsWith('<unfinished ...>') ? { unfinishedAs: `${pid} ${call}` } : {}),
  };
}

function resultIn(text: string): string | undefined {
  const [, code, error] = RESULT.exec(text) ?? [];
  if (code === undefined) return undefined;
  return code === '0' ? 'done' : (error ?? code);
}

//  > /usr/local/bin/edgecore(os.Remove+0x45) [0x4b8445]
const FRAME = /^ > \S+?\((\S.*?)(?:\+0x[0-9a-f]+)?\) \[0x[0-9a-f]+\]\s*$/;

/** A function of the caller, as `strace -k` prints it below a call. */
export function straceFrameIn(line: string): string | undefined {
  return FRAME.exec(line)?.[1];
}

const LETTERS: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', v: '\v', f: '\f' };

/**
 * strace escapes names as in C: "a\nb", "\303\244". A byte beyond ASCII becomes a lone surrogate,
 * as everywhere in this project.
 */
function unescaped(quoted: string): string {
  return quoted.replace(
    /\\(?:([0-7]{1,3})|x([0-9a-f]{2})|(.))/gs,
    (_, octal?: string, hex?: string, letter?: string) => {
      if (letter !== undefined) return LETTERS[letter] ?? letter;
      const byte = octal === undefined ? Number.parseInt(hex ?? '', 16) : Number.parseInt(octal, 8);
      return String.fromCharCode(byte < 0x80 ? byte : 0xdc00 + (byte & 0xff));
    },
  );
}
