import { terminalText } from './lib/std/terminal-text.ts';

/** A crash must never look like "a fault was found", which is 1. */
const DEFECT = 70;

/**
 * The one executable. Each host is loaded only when it is asked for: a person on a faulty node
 * should not wait for, or fail with, what they do not use.
 */
async function main(): Promise<void> {
  const [, , first = '', ...rest] = process.argv;
  const runChild = CHILDREN[first];
  if (runChild) return runChild(rest);
  const { runCli } = await import('./hosts/cli/run-cli.ts');
  process.exitCode = await runCli(process.argv.slice(2), {
    serve: async () => (await import('./hosts/serve/serve.ts')).serve,
    agent: async () => (await import('./hosts/agent/agent.ts')).runAgent,
    executor: async () => (await import('./hosts/executor/run-executor.ts')).runExecutor,
    controller: async () => (await import('./hosts/controller/controller.ts')).runController,
    lab: async () => (await import('../lab/commands.ts')).labCommands,
  });
}

/** Hidden commands by which this executable starts itself as a child. */
const CHILDREN: Readonly<Record<string, (args: readonly string[]) => Promise<void>>> = {
  reader: async () => (await import('./node/reader/reader.ts')).runReader(),
  remover: async () => (await import('./node/repair/remover.ts')).runRemover(),
  tracer: async ([command = '']) => (await import('./node/trace/tracer.ts')).runTracer(command),
  symbols: async () => (await import('./node/trace/symbol-reader.ts')).runSymbolReader(),
  'lab-part': async (args) => (await import('../lab/part.ts')).runPart(args),
};

process.on('uncaughtException', (error) => {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(
    `kubediag: this is a defect of kubediag, not of your node\n${terminalText(stack)}\n` +
      'Please report it with these lines, and with a bundle if you can: kubediag bundle\n',
  );
  // The state is unknown from here on, and a part that still works would hide that another has ended.
  // Node itself would exit with code 1.
  process.exit(DEFECT);
});
// A rejection is an uncaught exception too.
void main();
