import { Command, Option } from 'commander';

/** The versions whose wording and behaviour the lab's own kubelet knows. */
const KUBELET_VERSIONS = ['v1.18.8', 'v1.36.3'];

/** `kubediag lab`: a practice node, and what can be done with it. */
export function lab(): Command {
  const group = new Command('lab')
    .description('Practise on a node of this machine: break it for real, find the fault, repair it')
    .helpCommand(false);
  for (const define of [tour, up, run, breakNode, heal, exam, serve, list, down])
    group.addCommand(define());
  return group;
}

function up(): Command {
  const command = new Command('up').description(
    'Create a practice node: namespaces and a root of its own, a runtime, a kubelet, healthy pods',
  );
  return withMakeOptions(command);
}

function down(): Command {
  return new Command('down')
    .description('Remove a practice node, and what is left of any whose processes were killed')
    .option('--all', 'of every practice node on this machine')
    .addOption(nameOption());
}

function list(): Command {
  return new Command('list').description('List the practice nodes on this machine');
}

function run(): Command {
  return new Command('run')
    .description('Run any command on a practice node, with this terminal and its exit code')
    .argument('<COMMAND...>', 'the command and its words: what follows belongs to it')
    .addOption(nameOption());
}

/**
 * `lab run --name a ls -l` as if it were `lab run --name a -- ls -l`: what follows a command is its
 * own, also when it looks like an option of ours.
 */
export function withCommandApart(args: readonly string[]): readonly string[] {
  const isOption = (word: string) => word.startsWith('-');
  const group = args.findIndex((word) => !isOption(word));
  const inGroup = args.findIndex((word, at) => at > group && !isOption(word));
  if (args[group] !== 'lab' || args[inGroup] !== 'run') return args;
  const command = args.findIndex(
    (word, at) => at > inGroup && (word === '--' || (!isOption(word) && args[at - 1] !== '--name')),
  );
  if (command < 0 || args[command] === '--') return args;
  return [...args.slice(0, command), '--', ...args.slice(command)];
}

function breakNode(): Command {
  return new Command('break')
    .description('Break a practice node for real; without a fault, list the ways to break it')
    .argument('[FAULT...]', 'the faults to make, or one form of each: FAULT/VARIANT')
    .option('--variant <NAME>', 'in this form (default: the first that goes with the others)')
    .option('--look-alike <NAME>', 'make what only resembles a fault, and must not be reported')
    .addOption(nameOption());
}

function heal(): Command {
  return new Command('heal')
    .description('Undo what was broken on a practice node, and list what is not undone')
    .addOption(nameOption());
}

function tour(): Command {
  const command = new Command('tour')
    .description('Show each fault made, found and repaired on a practice node, step by step')
    .argument('[FAULT]', 'only this one')
    .option('--yes', 'do not wait for Enter between the steps')
    .option('--serve', 'afterwards let kubediag serve stand there, until Ctrl-C')
    .addOption(listenOption());
  return withLabOptions(command);
}

function exam(): Command {
  const command = new Command('exam')
    .description('Make, check, repair and compare every fault, variant and look-alike in turn')
    .argument(
      '[CASE...]',
      'only these: a name such as stale-subpath-mount/secret-active, or its beginning',
    )
    .addOption(
      new Option('-o, --output <FORMAT>', 'json, junit: for programs')
        .choices(['table', 'json', 'junit'])
        .default('table'),
    );
  return withLabOptions(command);
}

function serve(): Command {
  return new Command('serve')
    .description('Run an agent on a practice node, reached from this machine, until Ctrl-C')
    .addOption(listenOption())
    .addOption(nameOption());
}

function listenOption(): Option {
  return new Option('--listen <ADDRESS:PORT>', 'where to serve it on this machine').default(
    '127.0.0.1:8090',
  );
}

function nameOption(): Option {
  return new Option('--name <NAME>', 'which practice node').default('practice');
}

function withMakeOptions(command: Command): Command {
  return withKindOptions(command.addOption(nameOption()));
}

/** For what makes a practice node for itself alone, unless one is named: that is what it is already. */
function withLabOptions(command: Command): Command {
  const name = new Option(
    '--name <NAME>',
    'a practice node that is up (default: one made for this alone)',
  );
  return withKindOptions(
    command.addOption(name.conflicts(['kubelet', 'kubeletVersion', 'runtime', 'runtimeEndpoint'])),
  );
}

function withKindOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--kubelet <PATH>', 'a real kubelet, instead of our stand-in').conflicts(
        'kubeletVersion',
      ),
    )
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
