import { Command, Option } from 'commander';
import {
  hostRootOption,
  recursiveOption,
  stateOption,
  validateOption,
  withManifestOptions,
  withNodeOptions,
} from './command-options.ts';
import { DRY_RUN_MODES } from './dry-run-mode.ts';
import { OUTPUT_FORMATS } from './output-formats.ts';

const TYPES =
  'operations (diagop), operationsets (opset), diagnoses (diag), triggers, commonevents';

function serve(): Command {
  const command = new Command('serve')
    .description('Run as an agent on this node: store and run Diagnoses, answer kubectl over HTTP')
    .option('--listen <ADDRESS:PORT>', 'where to answer', '127.0.0.1:8090')
    .option('--allow-remote', 'listen on an address that other machines can reach, without TLS')
    .option('--node-name <NAME>', "this node's name, when it is not that of the kubelet")
    .option('--repeat-interval <DURATION>', 'ignore repeats of an alert for this long', '6h')
    .addOption(stateOption());
  return withNodeOptions(command);
}

function apply(): Command {
  const command = new Command('apply')
    .description('Create or update objects from manifests')
    .addOption(validateOption())
    .addOption(
      new Option(
        '--dry-run [MODE]',
        'store nothing and start nothing: check here (client), or let the agent check (server)',
      )
        .choices(DRY_RUN_MODES)
        .default('none')
        .preset('client'),
    );
  return withAgentOptions(withManifestOptions(command));
}

function get(): Command {
  const command = new Command('get')
    .description('Show one or many resources')
    .argument('[TYPE[/NAME]]', `${TYPES}, several with commas, or all`)
    .argument('[NAME...]', 'only these; or several TYPE/NAME')
    .usage('[options] (TYPE [NAME...] | TYPE/NAME...)')
    .option('-o, --output <FORMAT>', `one of ${OUTPUT_FORMATS.join(', ')} (as in kubectl)`)
    .option('-w, --watch', 'show them, and every change, until Ctrl-C')
    .option('--sort-by <FIELD>', 'sort by a field, such as .metadata.creationTimestamp')
    .option('--no-headers', 'leave out the headings of the columns')
    .option('--show-labels', 'add a column with all labels')
    .option('-L, --label-columns <LABELS>', 'add a column for each of these labels', collected)
    .option('--ignore-not-found', 'a name that does not exist is no error');
  return withAgentOptions(withSelector(command));
}

function describe(): Command {
  const command = new Command('describe')
    .description('Show details of one or many resources: state, findings, actions, results')
    .argument('[TYPE[/NAME]]', TYPES)
    .argument('[NAME...]', 'only these; or several TYPE/NAME')
    .usage('[options] (TYPE [NAME...] | TYPE/NAME...)');
  return withAgentOptions(withSelector(command));
}

function wait(): Command {
  const command = new Command('wait')
    .description('Wait for a condition on one or many resources')
    .argument('[TYPE[/NAME]]', TYPES)
    .argument('[NAME...]', 'only these; or several TYPE/NAME')
    .usage('[options] --for CONDITION (TYPE NAME... | TYPE/NAME...)')
    .requiredOption(
      '--for <CONDITION>',
      "delete, create, condition=NAME[=STATUS], jsonpath='{PATH}'[=VALUE]",
    )
    .option('--timeout <DURATION>', '0 checks once, a negative one waits for a week', '30s')
    .option('--all', 'every object of this type in the namespace');
  return withAgentOptions(withSelector(command));
}

function fetchResult(): Command {
  const command = new Command('fetch')
    .description('Download a whole result of a Diagnosis: a profile, a capture, a large value')
    .argument('<NAME>', 'the Diagnosis')
    .argument('<KEY>', 'the key of the result, as describe shows it')
    .argument(
      '[FILE]',
      'a new file, or - for standard output (default: a file of its own name here)',
    );
  return withAgentOptions(command);
}

function remove(): Command {
  const command = new Command('delete')
    .description('Delete resources. A running step is stopped, but never a repair that has begun')
    .argument('[TYPE[/NAME]]', TYPES)
    .argument('[NAME...]', 'only these; or several TYPE/NAME')
    .usage('[options] (-f FILE | TYPE (NAME... | --all | -l LABELS) | TYPE/NAME...)')
    .option('-f, --filename <FILE...>', 'those that these manifests name')
    .addOption(recursiveOption())
    .option('--all', 'every object of this type in the namespace')
    .option('--ignore-not-found', 'a name that does not exist is no error')
    .addOption(new Option('-o, --output <FORMAT>', 'print only the names').choices(['name']));
  return withAgentOptions(withSelector(command));
}

function approve(): Command {
  const command = new Command('approve')
    .description('Approve the planned repair of a Diagnosis that waits for it, and nothing else')
    .argument('<NAME...>', 'the Diagnosis: NAME or diagnosis/NAME')
    .option('--plan <PLAN>', 'the plan that you have seen; another one is refused')
    .option('--yes', 'do not ask');
  return withAgentOptions(command);
}

function cancel(): Command {
  const command = new Command('cancel')
    .description('Cancel Diagnoses. A running step is stopped, but never a repair that has begun')
    .argument('<NAME...>', 'the Diagnosis: NAME or diagnosis/NAME');
  return withAgentOptions(command);
}

function withSelector(command: Command): Command {
  return command
    .option('-l, --selector <LABELS>', 'only those with these labels: a=b,c!=d')
    .option('--field-selector <FIELDS>', 'only those with these fields: status.phase=Running')
    .option('-A, --all-namespaces', 'of all namespaces');
}

function withAgentOptions(command: Command): Command {
  return command
    .option('-n, --namespace <NAMESPACE>', 'the namespace', 'default')
    .option('--server <URL>', 'where the agent listens (default: the socket in its folder)')
    .option('--token-file <FILE>', "where its token is (default: in the agent's folder)")
    .addOption(stateOption())
    .addOption(hostRootOption());
}

/** Each time it is given, one more: `-L app -L tier`. */
function collected(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

/** The agent that stands on a node, and the commands that talk to it. */
export const agentCommands = [
  serve,
  apply,
  get,
  describe,
  wait,
  approve,
  cancel,
  fetchResult,
  remove,
];
