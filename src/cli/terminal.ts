import { createInterface } from 'node:readline';
import { styleText } from 'node:util';
import type { GlobalOptions } from './options.ts';

/** Where a person reads and answers. Data goes to `out`, everything else to `err`. */
export interface Terminal {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Columns to fill at most. */
  readonly width: number;
  readonly isInteractive: boolean;
  readonly style: (style: Style, text: string) => string;
  /** One line that is rewritten in place; without a terminal, silent. An empty text clears it. */
  readonly progress: (text: string) => void;
  /** Advice around an answer; `--quiet` does without it. */
  readonly hint: (text: string) => void;
  /** What only those read who asked for it with `--verbose`. */
  readonly detail: (text: string) => void;
  /** Asks for yes or no; anything but y or yes is no, and so is the end of input. */
  readonly confirm: (question: string, stop: AbortSignal) => Promise<boolean>;
}

export type Style = 'bold' | 'dim' | 'red' | 'yellow' | 'green';

const WIDTH_DEFAULT = 80;
const WIDTH_MIN = 60;
const WIDTH_MAX = 120;

export function systemTerminal({ quiet = false, verbose = false }: GlobalOptions): Terminal {
  const { stdin, stdout, stderr } = process;
  const width = Math.min(Math.max(stdout.columns ?? WIDTH_DEFAULT, WIDTH_MIN), WIDTH_MAX);
  const err = (text: string) => void stderr.write(text);
  let isLineOpen = false;
  const progress = (text: string) => {
    if (quiet || !stderr.isTTY || (!text && !isLineOpen)) return;
    isLineOpen = text !== '';
    err(`\r\x1b[K${text.slice(0, (stderr.columns ?? WIDTH_DEFAULT) - 1)}`);
  };
  return {
    out: (text) => {
      progress('');
      stdout.write(text);
    },
    err: (text) => {
      progress('');
      err(text);
    },
    width,
    isInteractive: stdin.isTTY && stderr.isTTY,
    // Colour underlines what the words say; NO_COLOR and pipes are honoured by Node itself.
    style: (style, text) => styleText(style, text, { stream: stdout }),
    progress,
    hint: (text) => {
      if (!quiet) err(text);
    },
    detail: (text) => {
      if (verbose) err(text);
    },
    confirm: (question, stop) => confirm(question, stop),
  };
}

function confirm(question: string, stop: AbortSignal): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  return new Promise((resolve) => {
    const settle = (answer: boolean) => {
      resolve(answer);
      lines.close();
    };
    stop.addEventListener('abort', () => settle(false), { once: true });
    lines.on('close', () => resolve(false));
    lines.on('SIGINT', () => settle(false));
    lines.question(question, (answer) => settle(/^y(es)?$/i.test(answer.trim())));
  });
}
