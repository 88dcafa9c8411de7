import { createInterface } from 'node:readline';

/** Waits for Enter. Whoever types q or has no more input has seen enough. */
export function pause(question: string, stop: AbortSignal): Promise<'on' | 'enough'> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  return new Promise((resolve) => {
    const settle = (answer: 'on' | 'enough') => {
      resolve(answer);
      stop.removeEventListener('abort', leave);
      lines.close();
    };
    const leave = () => settle('enough');
    stop.addEventListener('abort', leave);
    // While a line is read, Ctrl-C comes as a character: it means what it always does.
    lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
    lines.on('close', leave);
    lines.question(question, (answer) => settle(/^q/i.test(answer.trim()) ? 'enough' : 'on'));
  });
}
