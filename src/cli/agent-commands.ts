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
import { GET_FORMATS } from './get-formats.ts';

function serve(): Command {
  const command = new Command('serve')
    .description('stand on this node: keep Diagnoses, run them, answer over HTTP (kubectl-like)')
    .option('--listen <ADDRESS:PORT>', 'where to answer', '127.0.0.1:8090')
    .option('--allow-remote', 'listen on an address that other machines can reach, without TLS')
    .option('--node-name <NAME>', "this node's name, when it is not that of the kubelet")
    .option('--repeat-interval <TIME>', 'the same alert is the same matter for so long', '6h')
    .addOption(stateOption());
  return withNodeOptions(command);
}

function apply(): Command {
  const command = new Command('apply')
    .description(
      'have the agent keep what manifests say: what is new is made, what differs changed',
    )
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
    .description('show what the agent keeps, as kubectl does')
    .argument(
      '<KIND>',
      'diagnoses (diag), operations, operationsets, triggers, commonevents, several with commas, or all',
    )
    .argument('[NAME]', 'one of them')
    .option('-A, --all-namespaces', 'of all namespaces')
    .option('-l, --selector <LABELS>', 'only those with these labels: a=b,c!=d')
    .option('-w, --watch', 'show them, and every change, until Ctrl-C')
    .addOption(
      new Option('-o, --output <FORMAT>', 'wide: with every column')
        .choices(GET_FORMATS)
        .default('table'),
    );
  return withAgentOptions(command);
}

function describe(): Command {
  const command = new Command('describe')
    .description('tell all of one object: what it wants, how far it is, what was found and done')
    .argument('<KIND>', 'diagnosis, operation, operationset, trigger or commonevent')
    .argument('<NAME>', 'its name');
  return withAgentOptions(command);
}

function fetchResult(): Command {
  const command = new Command('fetch')
    .description('bring a result of a Diagnosis here whole: a profile, a capture, a large value')
    .argument('<NAME>', 'of the Diagnosis')
    .argument('<KEY>', 'of the result, as describe shows it')
    .argument(
      '[FILE]',
      'a new file, or - for standard output (default: a file of its own name here)',
    );
  return withAgentOptions(command);
}

function remove(): Command {
  const command = new Command('delete')
    .description(
      'have the agent forget objects; a step under way is ended, but never a change of the node',
    )
    .argument('[KIND]', 'diagnosis, operation, operationset, trigger or commonevent')
    .argument('[NAME...]', 'their names')
    .option('-f, --filename <FILE...>', 'those that these manifests name')
    .addOption(recursiveOption());
  return withAgentOptions(command);
}

function approve(): Command {
  const command = new Command('approve')
    .description('let a Diagnosis that waits for approval do what it has planned, and only that')
    .argument('<NAME>', 'of the Diagnosis')
    .option('--plan <PLAN>', 'the plan that you have seen; another one is refused')
    .option('--yes', 'do not ask');
  return withAgentOptions(command);
}

function cancel(): Command {
  const command = new Command('cancel')
    .description('end a Diagnosis: a step under way is ended too, but never a change of the node')
    .argument('<NAME>', 'of the Diagnosis');
  return withAgentOptions(command);
}

function withAgentOptions(command: Command): Command {
  return command
    .option('-n, --namespace <NAME>', 'the namespace', 'default')
    .option('--server <URL>', 'where the agent listens (default: the socket in its folder)')
    .option('--token-file <FILE>', "where its token is (default: in the agent's folder)")
    .addOption(stateOption())
    .addOption(hostRootOption());
}

/** The agent that stands on a node, and the commands that talk to it. */
export const agentCommands = [serve, apply, get, describe, fetchResult, remove, approve, cancel];
