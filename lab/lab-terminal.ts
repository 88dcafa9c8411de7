/** Where a person reads what the lab says; the terminal of the command line is one. */
export interface LabTerminal {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly width: number;
  readonly isInteractive: boolean;
  readonly style: (style: 'bold' | 'dim' | 'red' | 'yellow' | 'green', text: string) => string;
  /** One line that is rewritten in place. An empty text clears it. */
  readonly progress: (text: string) => void;
  readonly hint: (text: string) => void;
  readonly ask: (question: string, stop: AbortSignal) => Promise<string>;
}
