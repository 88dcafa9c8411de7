import * as agent from '../../src/hosts/serve/limits.ts';
import * as web from '../../src/hosts/web/limits.ts';
import * as api from '../../src/pipeline/api/limits.ts';
import * as diagnosis from '../../src/pipeline/diagnosis/limits.ts';
import * as graph from '../../src/pipeline/graph/limits.ts';
import * as operations from '../../src/pipeline/operations/limits.ts';
import * as steps from '../../src/pipeline/steps/limits.ts';
import * as store from '../../src/pipeline/store/limits.ts';
import * as triggers from '../../src/pipeline/triggers/limits.ts';
import { tableOf } from './markdown.ts';

type Row = readonly [what: string, most: string, beyond: string];

const results: readonly Row[] = [
  ['the response of one step', bytes(steps.ANSWER_BYTES_MAX), 'the step fails'],
  [
    'one result in a status',
    bytes(diagnosis.RESULT_SHOWN_BYTES_MAX),
    'the value is stored separately, `status.largeResults` names it, later steps get it in full',
  ],
  [
    'all results in a status, with their keys',
    bytes(diagnosis.RESULTS_SHOWN_BYTES_MAX),
    'the largest are stored separately',
  ],
  [
    'all results of a Diagnosis, including those stored separately',
    bytes(diagnosis.RESULTS_COMPLETE_BYTES_MAX),
    'the step that exceeds it fails',
  ],
  [
    'findings of one fault that a step passes on',
    count(operations.FINDINGS_STORED_MAX),
    'the step reports the number; run it again after the repair of these',
  ],
  [
    'findings that a status lists',
    bytes(diagnosis.FINDINGS_SHOWN_BYTES_MAX),
    'the rest is only counted: `status.findingsNotListed`',
  ],
  [
    'their proof, in a status',
    bytes(diagnosis.PROOF_SHOWN_BYTES_MAX),
    'the rest is only counted: `proofNotListed` of the finding',
  ],
  [
    'actions that a status lists, completed and planned',
    `${bytes(diagnosis.ACTIONS_SHOWN_BYTES_MAX)} each`,
    'the rest is only counted: `status.actionsNotListed`; `kubediag journal` has all actions',
  ],
  [
    'files of steps that a status lists, on a cluster',
    bytes(diagnosis.FILES_SHOWN_BYTES_MAX),
    'the rest is only counted: `status.filesNotListed`; they stay on the node until the Diagnosis is deleted',
  ],
  [
    'steps that a status lists',
    count(graph.STEPS_LISTED_MAX),
    'the rest is only counted: `status.stepsNotListed`',
  ],
  [
    'the message of a step, and of all steps',
    `${count(graph.STEP_MESSAGE_CHARACTERS_MAX)} characters, and ${count(graph.STEP_MESSAGES_CHARACTERS_MAX)}`,
    'cut after a sentence or word, with the number of characters left out',
  ],
];

const objects: readonly Row[] = [
  ['an object', bytes(store.OBJECT_BYTES_MAX), 'refused (413), as by etcd'],
  ['values in an object', count(api.VALUES_MAX), 'refused'],
  ['nodes of a graph', count(api.NODES_MAX), 'refused'],
  ['paths of a graph, as JSON', bytes(graph.PATHS_BYTES_MAX), 'refused'],
  ['parameters, labels, annotations', `${count(api.PAIRS_MAX)} each`, 'refused'],
  ['a script', bytes(operations.SCRIPT_BYTES_MAX), 'the step fails'],
  ['files of a function', bytes(operations.CODE_BYTES_MAX), 'the step fails'],
  ['`timeoutSeconds` of a step', seconds(api.TIMEOUT_SECONDS_MAX), 'refused'],
  [
    'waiting for a missing OperationSet, Operation or node',
    seconds(graph.ARRIVAL_MS / 1_000),
    'the Diagnosis fails',
  ],
];

const agents: readonly Row[] = [
  ['a request', bytes(web.BODY_BYTES_MAX), 'refused (413)'],
  ['its headers', bytes(web.HEADER_BYTES_MAX), 'refused (431)'],
  ['nesting of an object', `${count(api.NESTING_MAX)} levels`, 'refused'],
  [
    'duration of a request',
    `${seconds(web.REQUEST_MS / 1_000)}, its headers ${seconds(web.HEADERS_MS / 1_000)}`,
    'refused (408)',
  ],
  ['a response that the client does not read', seconds(web.UNREAD_MS / 1_000), 'closed'],
  ['connections at once', count(web.CONNECTIONS_MAX), 'refused (503)'],
  ['watches at once', count(web.WATCHES_MAX), 'refused (429)'],
  ['a watch', seconds(web.WATCH_SECONDS_MAX), 'it ends; start another'],
  ['processors over HTTP at once', count(agent.PROCESSORS_MAX), 'refused (429)'],
  ['running Diagnoses', count(diagnosis.IN_FLIGHT_MAX), 'the others wait in a queue'],
  [
    'built-in steps and lookups of pods that read the node at once',
    `${count(operations.READING_STEPS_MAX)}, and 1 that repairs`,
    'the others wait in a queue',
  ],
  [
    'scripts and functions at once',
    count(operations.PROGRAM_STEPS_MAX),
    'the others wait in a queue',
  ],
  ['requests of HTTP steps at once', count(operations.EXCHANGES_MAX), 'the others wait in a queue'],
  ['the store', bytes(store.STORE_BYTES_MAX), 'nothing more is stored (503)'],
  ['alerts in one request', count(triggers.ALERTS_MAX), 'refused (413)'],
  [
    'Diagnoses that Triggers create within a repeat interval',
    count(agent.TRIGGERED_MAX),
    'refused (503)',
  ],
];

/** docs/reference/limits.md: the limits that a user can reach, with the values of the code. */
export function limitsPage(): string {
  const head = ['what', 'at most', 'beyond it'];
  return [
    '# Limits\n',
    'Everything has a limit. Reaching it is reported: a rejection names it, or a step fails with it.\n' +
      'These are the limits of manifests and of the agent.\n',
    `## Results of steps\n\nSizes are those of UTF-8 text; in a status, as JSON.\n\n${tableOf(head, results)}`,
    `## Manifests\n\n${tableOf(head, objects)}`,
    `## The agent\n\n${tableOf(head, agents)}`,
  ].join('\n');
}

function count(number: number): string {
  return number.toLocaleString('en-US');
}

/** In the largest unit that leaves no rest: 65536 is 64 KiB. */
function bytes(number: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB'];
  let [rest, unit] = [number, 0];
  for (; rest % 1_024 === 0 && unit < units.length - 1; unit += 1) rest /= 1_024;
  return `${count(rest)} ${units[unit]}`;
}

function seconds(number: number): string {
  return `${count(number)} s`;
}
