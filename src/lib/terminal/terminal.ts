import { styleText } from 'node:util';
import { styledText, terminalText } from '../std/terminal-text.ts';

/** The options --quiet and --verbose. */
export interface GlobalOptions {
  readonly quiet?: boolean;
  readonly verbose?: boolean;
}

/** The input and output of a command. Data goes to `out`, everything else to `err`. */
export interface Terminal {
  /** Lets our own styles pass: what others wrote is escaped before, by `printable` or `outData`. */
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** The width of `out` in columns; infinite if it is no terminal, so nothing is wrapped. */
  readonly width: number;
  /** The same of `err`. */
  readonly errWidth: number;
  readonly isInteractive: boolean;
  /** `out` is a terminal, and not a pipe, a file or a log. */
  readonly isOutTerminal: boolean;
  readonly style: (style: Style, text: string) => string;
  /** One line that is rewritten in place; without a terminal, silent. An empty text clears it. */
  readonly progress: (text: string) => void;
  /** Prints advice, unless `--quiet` is set. */
  readonly hint: (text: string) => void;
  /** Prints details if `--verbose` is set. */
  readonly detail: (text: () => string) => void;
  /** Asks for a line; empty at the end of input. */
  readonly ask: (question: string, stop: AbortSignal) => Promise<string>;
  /** Asks for yes or no; anything but y or yes is no, and so is the end of input. */
  readonly confirm: (question: string, stop: AbortSignal) => Promise<boolean>;
}

export type Style = 'bold' | 'dim' | 'red' | 'yellow' | 'green';

const WIDTH_DEFAULT = 80;
const WIDTH_MIN = 60;
const WIDTH_MAX = 120;

export function systemTerminal({ quiet = false, verbose = false }: GlobalOptions): Terminal {
  const { stdin, stdout, stderr } = process;
  const err = (text: string) => void stderr.write(stderr.isTTY ? terminalText(text) : text);
  let isLineOpen = false;
  const progress = (text: string) => {
    if (quiet || !stderr.isTTY || (!text && !isLineOpen)) return;
    isLineOpen = text !== '';
    const shown = terminalText(text).slice(0, (stderr.columns ?? WIDTH_DEFAULT) - 1);
    stderr.write(`\r\x1b[K${shown}`);
  };
  return {
    out: (text) => {
      progress('');
      stdout.write(stdout.isTTY ? styledText(text) : text);
    },
    err: (text) => {
      progress('');
      err(text);
    },
    width: widthOf(stdout),
    errWidth: widthOf(stderr),
    isInteractive: stdin.isTTY && stderr.isTTY,
    isOutTerminal: stdout.isTTY,
    // Colour only emphasizes the text. Node.js itself respects NO_COLOR and pipes.
    style: (style, text) => styleText(style, text, { stream: stdout }),
    progress,
    hint: (text) => {
      if (!quiet) err(text);
    },
    detail: (text) => {
      if (verbose) err(text());
    },
    ask,
    confirm: async (question, stop) => /^y(es)?$/i.test(await ask(question, stop)),
  };
}

function widthOf({ isTTY, columns }: NodeJS.WriteStream): number {
  if (!isTTY) return Number.POSITIVE_INFINITY;
  // A terminal of unknown width reports 0.
  return Math.min(Math.max(columns || WIDTH_DEFAULT, WIDTH_MIN), WIDTH_MAX);
}

/** Prints data unchanged; on a terminal, with control characters escaped. */
export function outData(text: string, { out, isOutTerminal }: Terminal): void {
  out(isOutTerminal ? terminalText(text) : text);
}

async function ask(question: string, stop: AbortSignal): Promise<string> {
  // Loaded only here, because most commands ask nothing and should start fast.
  const { createInterface } = await import('node:readline');
  if (stop.aborted) return '';
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  return new Promise((resolve) => {
    const settle = (answer: string) => {
      resolve(answer);
      lines.close();
    };
    stop.addEventListener('abort', () => settle(''), { once: true });
    lines.on('close', () => resolve(''));
    // Ctrl-C arrives here as a key; the signal stops everything, not only this question.
    lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
    lines.question(terminalText(question), (answer) => settle(answer.trim()));
  });
}

/** Exit codes: stable and documented, because scripts rely on them. */
export const EXIT = {
  clear: 0,
  found: 1,
  unknown: 2,
  notDone: 3,
  usage: 64,
} as const;

/** What each code means, for the help and the reference. */
export const EXIT_MEANINGS: Readonly<Record<number, string>> = {
  0: 'clear, or nothing is left to repair',
  1: 'a fault was found, or is left',
  2: 'unknown, and nothing was found',
  3: 'refused, or failed to act',
  64: 'wrong usage',
  70: 'a defect of kubediag itself',
};

/** An invalid command line. The message names the valid choices. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
