const CTRL_C = '\u0003';
const CTRL_D = '\u0004';

/** Waits for Enter. The key q and the end of input mean stop. */
export function pause(question: string, stop: AbortSignal): Promise<'continue' | 'stop'> {
  const { stdin, stderr } = process;
  stderr.write(question);
  // A key counts at once, without Enter after it.
  stdin.setRawMode(true);
  return new Promise((resolve) => {
    const settle = (answer: 'continue' | 'stop') => {
      stop.removeEventListener('abort', leave);
      stdin.off('data', hear).off('end', leave).off('error', leave);
      stdin.setRawMode(false);
      stdin.pause();
      stderr.write('\n');
      resolve(answer);
    };
    const leave = () => settle('stop');
    const hear = (chunk: Buffer) => {
      const keys = chunk.toString();
      // In raw mode Ctrl-C arrives as a character.
      if (keys.includes(CTRL_C)) process.kill(process.pid, 'SIGINT');
      else if (keys.includes(CTRL_D) || /q/i.test(keys)) leave();
      else if (/[\r\n]/.test(keys)) settle('continue');
    };
    stop.addEventListener('abort', leave);
    stdin.on('data', hear).on('end', leave).on('error', leave);
    stdin.resume();
    if (stop.aborted) leave();
  });
}
