const CTRL_C = '\u0003';
const CTRL_D = '\u0004';

/** Waits for Enter. Whoever presses q, or has no more input, has seen enough. */
export function pause(question: string, stop: AbortSignal): Promise<'on' | 'enough'> {
  const { stdin, stderr } = process;
  stderr.write(question);
  // A key counts when it is pressed, not with the Enter after it.
  stdin.setRawMode(true);
  return new Promise((resolve) => {
    const settle = (answer: 'on' | 'enough') => {
      stop.removeEventListener('abort', leave);
      stdin.off('data', hear).off('end', leave).off('error', leave);
      stdin.setRawMode(false);
      stdin.pause();
      stderr.write('\n');
      resolve(answer);
    };
    const leave = () => settle('enough');
    const hear = (chunk: Buffer) => {
      const keys = chunk.toString();
      // In this mode it comes as a character: it means what it always does.
      if (keys.includes(CTRL_C)) process.kill(process.pid, 'SIGINT');
      else if (keys.includes(CTRL_D) || /q/i.test(keys)) leave();
      else if (/[\r\n]/.test(keys)) settle('on');
    };
    stop.addEventListener('abort', leave);
    stdin.on('data', hear).on('end', leave).on('error', leave);
    stdin.resume();
    if (stop.aborted) leave();
  });
}
