import { terminalText } from './lib/std/terminal-text.ts';

/** A crash must never look like "a fault was found", which is 1. */
const DEFECT = 70;

/**
 * The one executable. Each host is loaded only when it is asked for: a person on a sick node should
 * not wait for, or fail with, what they do not use.
 */
async function main(): Promise<void> {
  if (process.argv[2] === 'reader') {
    const { runReader } = await import('./node/reader/reader.ts');
    runReader();
    return;
  }
  if (process.argv[2] === 'remover') {
    const { runRemover } = await import('./node/repair/remover.ts');
    runRemover();
    return;
  }
  if (process.argv[2] === 'tracer') {
    const { runTracer } = await import('./node/trace/tracer.ts');
    await runTracer(process.argv[3] ?? '');
    return;
  }
  if (process.argv[2] === 'symbols') {
    const { runSymbolReader } = await import('./node/trace/symbol-reader.ts');
    await runSymbolReader();
    return;
  }
  if (process.argv[2] === 'lab-part') {
    const { runPart } = await import('../lab/part.ts');
    await runPart(process.argv.slice(3));
    return;
  }
  const { runCli } = await import('./hosts/cli/run-cli.ts');
  const serve = async () => (await import('./hosts/agent/serve.ts')).serve;
  const lab = async () => (await import('../lab/run-lab.ts')).runLab;
  const labCompletions = async () => (await import('../lab/completion-words.ts')).labCompletions;
  process.exitCode = await runCli(process.argv.slice(2), { serve, lab, labCompletions });
}

function reportDefect(error: unknown): void {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(
    `kubediag: this is a defect of kubediag, not of your node\n${terminalText(stack)}\n` +
      'Please report it with these lines, and with a bundle if you can: kubediag bundle\n',
  );
  process.exitCode = DEFECT;
}

process.on('uncaughtException', (error) => {
  reportDefect(error);
  // Who threw it may have left anything half done: Node itself would end here, with code 1.
  process.exit(DEFECT);
});
main().catch(reportDefect);
