import {
  argument,
  type CommandSpec,
  command,
  ignoringArguments,
  option,
} from '../../../lib/terminal/command-spec.ts';
import type { Serve } from '../commands/serve.ts';
import {
  AGENT_OPTIONS,
  DRY_RUN_MODES,
  MANIFEST_OPTIONS,
  NODE_NAME,
  NODE_OPTIONS,
  OUTPUT_FORMATS,
  RECURSIVE,
  SELECTORS,
  STATE_DIR,
  VALIDATE,
} from './shared-options.ts';

const TYPES =
  'operations (diagop), operationsets (opset), diagnoses (diag), triggers, commonevents';

/** Exit codes of what asks the agent for something. */
const ASKED = { 0: 'done', 3: 'the agent refused it or cannot be reached' };

const NAMES = argument('[NAME...]', 'only these objects; or more of TYPE/NAME');
const OBJECTS = [argument('[TYPE[/NAME]]', TYPES), NAMES];

const IGNORE_NOT_FOUND = option('--ignore-not-found', 'do not fail if an object does not exist');

const ALL = option('--all', 'all objects of this type in the namespace');

/** The agent is loaded by `main`: the command line must not reach it by itself. */
function serve(loadAgent: () => Promise<Serve>): CommandSpec {
  return command({
    name: 'serve',
    summary: 'Run as an agent on this node: store and run Diagnoses, serve the API over HTTP',
    options: [
      option('--listen <ADDRESS:PORT>', 'the address to listen on', { default: '127.0.0.1:8090' }),
      option('--allow-remote', 'allow an address that other machines can reach, without TLS'),
      NODE_NAME,
      option('--repeat-interval <DURATION>', 'ignore repeats of an alert for this long', {
        default: '6h',
      }),
      STATE_DIR,
      ...NODE_OPTIONS,
    ],
    examples: [
      ['Run the agent until Ctrl-C', 'kubediag serve'],
      ['Listen on another port', 'kubediag serve --listen 127.0.0.1:9000'],
    ],
    exitCodes: { 0: 'stopped by a signal', 3: 'the agent could not start or had to stop' },
    needsRoot: true,
    load: async () => {
      const { serveHere } = await import('../commands/serve.ts');
      const agent = await loadAgent();
      return (_words, options, terminal) => serveHere(options, terminal, agent);
    },
  });
}

const apply = command({
  name: 'apply',
  summary: 'Create or update objects from manifests',
  options: [
    VALIDATE,
    option(
      '--dry-run [MODE]',
      'store and start nothing: check here (client), or let the agent check (server)',
      { choices: DRY_RUN_MODES, default: 'none', preset: 'client' },
    ),
    ...MANIFEST_OPTIONS,
    ...AGENT_OPTIONS,
  ],
  examples: [
    ['Create or update the objects in a file', 'kubediag apply -f diagnosis.yaml'],
    ['Do so for a directory', 'kubediag apply -f manifests/'],
  ],
  exitCodes: ASKED,
  load: async () => ignoringArguments((await import('../commands/apply.ts')).apply),
});

const get = command({
  name: 'get',
  summary: 'Show one or many resources',
  arguments: [argument('[TYPE[/NAME]]', `${TYPES}, several with commas, or all`), NAMES],
  usage: '[options] (TYPE [NAME...] | TYPE/NAME...)',
  options: [
    option('-o, --output <FORMAT>', `one of ${OUTPUT_FORMATS.join(', ')} (as in kubectl)`, {
      complete: async () => OUTPUT_FORMATS,
    }),
    option('-w, --watch', 'show the objects and then every change, until Ctrl-C'),
    option('--sort-by <FIELD>', 'sort by a field, such as .metadata.creationTimestamp'),
    option('--no-headers', 'do not print the column headings'),
    option('--show-labels', 'add a column with all labels'),
    option('-L, --label-columns <LABELS>', 'add a column for each of these labels', {
      isRepeatable: true,
    }),
    IGNORE_NOT_FOUND,
    ...SELECTORS,
    ...AGENT_OPTIONS,
  ],
  examples: [
    ['List the Diagnoses', 'kubediag get diagnoses'],
    ['Show two of them as YAML', 'kubediag get diagnosis/web diagnosis/db -o yaml'],
    ['Print only their names', "kubediag get diag -o jsonpath='{.items[*].metadata.name}'"],
  ],
  exitCodes: ASKED,
  load: async () => (await import('../commands/get.ts')).get,
});

const describe = command({
  name: 'describe',
  summary: 'Show details of one or many resources: state, findings, actions, results',
  arguments: OBJECTS,
  usage: '[options] (TYPE [NAME...] | TYPE/NAME...)',
  options: [...SELECTORS, ...AGENT_OPTIONS],
  examples: [
    ['Show what a Diagnosis found and did', 'kubediag describe diagnosis/web'],
    ['Show all Diagnoses with a label', 'kubediag describe diagnoses -l app=web'],
  ],
  exitCodes: ASKED,
  load: async () => (await import('../commands/describe.ts')).describe,
});

const wait = command({
  name: 'wait',
  summary: 'Wait for a condition on one or many resources',
  arguments: OBJECTS,
  usage: '[options] --for CONDITION (TYPE NAME... | TYPE/NAME...)',
  options: [
    option(
      '--for <CONDITION>',
      "delete, create, condition=NAME[=STATUS], jsonpath='{PATH}'[=VALUE]",
      { isRequired: true, complete: async () => ['condition=', 'jsonpath=', 'delete', 'create'] },
    ),
    option('--timeout <DURATION>', 'time limit; 0 checks once, a negative value waits for a week', {
      default: '30s',
    }),
    ALL,
    ...SELECTORS,
    ...AGENT_OPTIONS,
  ],
  examples: [
    [
      'Wait until a Diagnosis has a result or waits for approval',
      "kubediag wait diagnosis/web --for=jsonpath='{.status.result}' --timeout=5m",
    ],
    [
      'Wait for one result; any other one ends in the timeout',
      "kubediag wait diagnosis/web --for=jsonpath='{.status.result}'=Repaired --timeout=5m",
    ],
    ['Wait until it is deleted', 'kubediag wait diagnosis/web --for=delete'],
  ],
  exitCodes: {
    0: 'the condition is met',
    1: 'the wait timed out, or no object matches',
    3: 'the object does not exist, or the agent cannot be reached',
  },
  load: async () => (await import('../commands/wait.ts')).wait,
});

const DIAGNOSES = [argument('<NAME...>', 'the Diagnosis: NAME or diagnosis/NAME')];

const approve = command({
  name: 'approve',
  summary: 'Approve the planned repair of a Diagnosis that waits for approval',
  arguments: DIAGNOSES,
  options: [
    option('--plan <PLAN>', 'the plan that you have seen; any other plan is not approved'),
    option('--yes', 'do not ask'),
    ...AGENT_OPTIONS,
  ],
  examples: [
    ['Show the plan of a Diagnosis and ask', 'kubediag approve web'],
    [
      'Approve a plan that you have seen, in a script',
      'kubediag approve diagnosis/web --plan 3f9a1c',
    ],
  ],
  exitCodes: {
    0: 'approved',
    3: 'not approved: declined, no such plan, or the agent cannot be reached',
  },
  load: async () => (await import('../commands/change-diagnosis.ts')).approve,
});

const cancel = command({
  name: 'cancel',
  summary: 'Cancel Diagnoses: stop the running step, but never a repair that has begun',
  arguments: DIAGNOSES,
  options: AGENT_OPTIONS,
  examples: [
    ['Cancel a Diagnosis', 'kubediag cancel web'],
    ['Cancel two in another namespace', 'kubediag cancel diagnosis/web diagnosis/db -n shop'],
  ],
  exitCodes: {
    0: 'cancelled',
    3: 'the Diagnosis has already ended, or the agent cannot be reached',
  },
  load: async () => (await import('../commands/change-diagnosis.ts')).cancel,
});

const fetchResult = command({
  name: 'fetch',
  summary: 'Download a result of a Diagnosis: a profile, a capture, a large value',
  arguments: [
    argument('<NAME>', 'the Diagnosis'),
    argument('<KEY>', 'the key of the result, as describe shows it'),
    argument(
      '[FILE]',
      'a new file, or - for standard output (default: a file named after the result)',
    ),
  ],
  options: AGENT_OPTIONS,
  examples: [
    ['List the results of a Diagnosis', 'kubediag describe diagnosis/web'],
    ['Download one to a file', 'kubediag fetch web operation.profile.output cpu.pprof'],
  ],
  exitCodes: { 0: 'written', 3: 'no such result, or the agent cannot be reached' },
  load: async () => (await import('../commands/fetch.ts')).fetchResult,
});

const remove = command({
  name: 'delete',
  summary: 'Delete resources: stop the running step, but never a repair that has begun',
  arguments: OBJECTS,
  usage: '[options] (-f FILE | TYPE (NAME... | --all | -l LABELS) | TYPE/NAME...)',
  options: [
    option('-f, --filename <FILE...>', 'delete the objects in these manifests'),
    RECURSIVE,
    ALL,
    IGNORE_NOT_FOUND,
    option('-o, --output <FORMAT>', 'print only the names', { choices: ['name'] }),
    ...SELECTORS,
    ...AGENT_OPTIONS,
  ],
  examples: [
    ['Delete two Diagnoses', 'kubediag delete diagnosis web db'],
    ['Delete the objects in a file', 'kubediag delete -f diagnosis.yaml'],
    ['Delete all Diagnoses of a namespace', 'kubediag delete diagnoses --all -n shop'],
  ],
  exitCodes: ASKED,
  load: async () => (await import('../commands/delete.ts')).deleteObjects,
});

/** The agent, and the commands that ask it for something. */
export function agentCommands(loadAgent: () => Promise<Serve>): readonly CommandSpec[] {
  return [serve(loadAgent), apply, get, describe, wait, approve, cancel, fetchResult, remove];
}
