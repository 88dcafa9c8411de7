import { Command, Option } from 'commander';

/** The versions whose wording and behaviour the lab's own kubelet knows. */
const KUBELET_VERSIONS = ['v1.18.8', 'v1.36.3'];

/** `kubediag lab`: a practice node, and what can be done with it. */
export function lab(): Command {
  const group = new Command('lab')
    .description('a practice node on this machine: break it for real, find the fault, repair it')
    .helpCommand(false);
  for (const define of [up, down, list, run, breakNode, heal]) group.addCommand(define());
  return group;
}

function up(): Command {
  const command = new Command('up').description(
    'make a practice node: namespaces and a root of its own, a runtime, a kubelet, healthy pods',
  );
  return withMakeOptions(command);
}

function down(): Command {
  return new Command('down')
    .description('leave nothing of a practice node, nor of any whose processes were killed')
    .option('--all', 'of every practice node on this machine')
    .addOption(nameOption());
}

function list(): Command {
  return new Command('list').description('the practice nodes on this machine');
}

function run(): Command {
  return new Command('run')
    .description('run any command on a practice node, with this terminal and its exit code')
    .argument('<COMMAND...>', 'after "--": the command and its words')
    .addOption(nameOption());
}

function breakNode(): Command {
  return new Command('break')
    .description('break a practice node for real; without a fault, tell in which ways')
    .argument('[FAULT]', 'the fault to make')
    .option('--variant <NAME>', 'in this form (default: its first)')
    .option('--look-alike <NAME>', 'make what only resembles a fault, and must not be reported')
    .addOption(nameOption());
}

function heal(): Command {
  return new Command('heal')
    .description('take a practice node back to what it was when it was made')
    .addOption(nameOption());
}

function nameOption(): Option {
  return new Option('--name <NAME>', 'which practice node').default('practice');
}

function withMakeOptions(command: Command): Command {
  return command
    .addOption(nameOption())
    .option('--kubelet <PATH>', 'a real kubelet, instead of our stand-in')
    .addOption(
      new Option('--kubelet-version <VERSION>', 'how our stand-in behaves')
        .choices(KUBELET_VERSIONS)
        .default('v1.18.8'),
    )
    .addOption(
      new Option('--runtime <KIND>', 'auto: a real containerd where there is one')
        .choices(['auto', 'containerd', 'stand-in'])
        .default('auto'),
    )
    .option(
      '--runtime-endpoint <SOCKET>',
      'a containerd of its own, from the program that serves this socket',
    );
}
