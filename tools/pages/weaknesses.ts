/** What went wrong in released versions of KubeDiag, and the tests that show that it cannot happen here. */
export type Weakness = readonly [was: string, ...shownBy: readonly TestName[]];

/** The file, below src/ or as it is, and the words with which the name of the test begins. */
export type TestName = readonly [file: string, title: string];

const AGENT = 'hosts/serve/interrupted-run.test.ts';
const DECIDE = 'pipeline/graph/decide-next.test.ts';
const DRIVE = 'pipeline/diagnosis/drive-diagnosis.test.ts';
const STORED = 'pipeline/diagnosis/drive-over-store.test.ts';
const FUNCTION = 'pipeline/operations/run-function.kernel.test.ts';
const HTTP = 'pipeline/steps/run-http.test.ts';
const JOURNEY = 'test/journeys/external-processors.kernel.test.ts';
const KEEP = 'pipeline/diagnosis/store-result.test.ts';
const OPERATION = 'pipeline/operations/run-operation.test.ts';
const PATHS = 'pipeline/graph/paths.test.ts';
const PROFILERS = 'test/journeys/profilers.runtime.test.ts';
const RUNNER = 'pipeline/diagnosis/runner.test.ts';
const SCRIPT = 'pipeline/operations/run-script.test.ts';
const STEP = 'pipeline/operations/run-step.test.ts';

const walking: readonly Weakness[] = [
  [
    'After a failed path, the next one started in its middle',
    [DRIVE, 'after a failed path the next one starts at its first step'],
    [DECIDE, 'after a failed path the next one starts at its first step, and the results stay'],
  ],
  [
    'A conflict on writing the status ran the step again, up to four times',
    [DRIVE, 'a concurrent write during a step repeats no step and loses no result'],
    [STORED, 'waits for a store that fails temporarily, and repeats no step'],
  ],
  [
    'A change of an object during a step started that step a second time',
    [AGENT, 'changes of labels and annotations in the middle of a step run nothing twice'],
  ],
  [
    'An OperationSet applied after its Diagnosis, in one file with it, came too late',
    [DRIVE, 'waits for an OperationSet that is applied later'],
    [RUNNER, 'a waiting Diagnosis goes on when its OperationSet or its spec changes'],
  ],
  [
    'A Diagnosis failed although its graph had not changed, or a label of the user hid a change',
    [DRIVE, 'an edited graph ends the Diagnosis, and an edited label does not'],
    [AGENT, 'an OperationSet that is edited in the middle of a step ends its Diagnosis'],
  ],
  [
    'A missing Operation failed the Diagnosis, even if another path did not need it',
    [DRIVE, 'a missing Operation fails its path, not the Diagnosis'],
    [AGENT, 'an Operation that is deleted in the middle of a step is not run'],
  ],
  [
    'A Diagnosis waited forever for a missing pod or node, or a selector without matches',
    [DRIVE, 'stores the node of a pod, and reports a node that is not this one'],
    [AGENT, 'reports a missing object after its timeout'],
  ],
  [
    'A Diagnosis with dots in its name, as created for every alert, never ended',
    [AGENT, 'a Diagnosis with dots in its name, whose graph and steps come after it'],
  ],
  [
    'A step did not get the results of earlier steps, nor the pod',
    [JOURNEY, 'each step gets the results of earlier steps'],
    ['pipeline/steps/step-input.test.ts', 'a step gets %s'],
  ],
  [
    'There was no condition when all paths had failed',
    [DECIDE, 'a condition reports that all paths failed'],
  ],
  [
    'A step shared by two paths ran in each, with its changes to the node',
    [DRIVE, 'a step that two paths share runs in each, with one purpose'],
  ],
  [
    'A full queue lost Diagnoses, and one unreachable server blocked all others',
    [RUNNER, 'limits the Diagnoses that run at once, and runs all of them'],
    [AGENT, 'a server that nobody can reach holds up no other Diagnosis'],
  ],
  [
    'An error in one step ended the agent, and again at each of its starts',
    [RUNNER, 'a defect ends one Diagnosis and no other'],
    [STEP, 'one repair runs at a time, and a defect fails one step only'],
  ],
  [
    'After a restart, finished Diagnoses ran or were counted again',
    ['test/journeys/killed-agent-collecting.kernel.test.ts', 'killed again and again while it'],
    [
      'test/journeys/killed-at-random.kernel.test.ts',
      'killed at any moment, nothing is done twice',
    ],
  ],
  [
    'There was no cancellation, deadline, dry run or approval',
    [DRIVE, 'a cancel during a step preserves its result, and starts no other step'],
    [DRIVE, 'no step begins after the deadline, and a condition says so'],
    [STEP, 'changes nothing with a dry run or recovery "Never"'],
    [STEP, 'waits for approval with recovery "Approval", and lists its plan'],
  ],
  [
    'Results exceeded the limit of etcd, and the failed write ran the step again',
    [
      KEEP,
      'a result that is too large for a status is listed there and complete for the next step',
    ],
    [KEEP, 'the largest of many results are stored separately, and a status has its limit'],
    [KEEP, 'results beyond the total limit fail the step, and the next path runs'],
  ],
  [
    'Finished Diagnoses stayed forever, or were deleted at an unpredictable time',
    [RUNNER, 'an ended Diagnosis is deleted after its TTL, with its large results'],
    [RUNNER, 'an expired Diagnosis is also deleted after a restart, and another one stays'],
  ],
  [
    'Running Diagnoses were deleted to free space',
    [AGENT, 'a Diagnosis with ttlSecondsAfterFinished 0 is deleted after its end, and not before'],
  ],
  [
    'A failure was counted at each reconciliation, and steps were not timed',
    [AGENT, 'each end is counted once, and each step is timed'],
  ],
];

const graphs: readonly Weakness[] = [
  [
    'The order of paths differed at each start',
    ['pipeline/graph/paths.prop.test.ts', 'the order of two paths is that of "to"'],
  ],
  [
    'An edge to itself or out of range crashed the controller',
    [
      'pipeline/graph/paths.prop.test.ts',
      'every graph can be checked, and one without problems has an end for every path',
    ],
    ['hosts/web/resources.test.ts', 'an invalid graph is rejected with all its problems'],
  ],
  ['A cycle or an unreachable node caused a busy loop without a message', [PATHS, 'a cycle']],
  [
    'Graphs with very many paths exhausted the memory',
    [PATHS, 'more paths than a status can have'],
  ],
  [
    'Nodes without an id resulted in an empty graph with ready: true',
    [PATHS, 'copies nodes completely, with their position as id'],
  ],
];

const steps: readonly Weakness[] = [
  [
    'A script that failed was a success',
    [SCRIPT, 'its exit code counts, and its output is stored'],
  ],
  [
    'A missing argument shifted the others',
    [SCRIPT, 'arguments keep their places when one is missing'],
  ],
  [
    'A script that ignores SIGTERM never ended, and its children survived',
    [SCRIPT, 'one that ignores TERM is killed'],
    [JOURNEY, 'leaves nobody behind, and the agent stands'],
  ],
  [
    'An older version of a script ran, or none',
    [SCRIPT, 'it is the text of this moment that runs'],
  ],
  [
    'A function that failed without output crashed the agent',
    [JOURNEY, 'silent-function'],
    [FUNCTION, 'answers with nothing'],
  ],
  [
    'Files of a function could be written outside its directory',
    [FUNCTION, 'because a file of it is called %j'],
  ],
  [
    'An Operation without a path, a scheme or a timeout crashed the agent',
    [OPERATION, 'without path, scheme and time it has the usual ones'],
  ],
  [
    'Servers were not authenticated, and responses were read without a size limit',
    [HTTP, 'without a trusted certificate gets no request'],
    [HTTP, 'an endless answer is not read to its end'],
  ],
  [
    'Retries were indistinguishable from first requests, and their number was not configurable',
    [HTTP, 'a reset, until there is an answer'],
    [OPERATION, 'it is asked no oftener than it says'],
  ],
  [
    'A step could call the metadata service of a cloud, which returns credentials',
    [HTTP, '%s is not asked, and not tried again'],
  ],
  [
    'Any path named by a caller was unmounted on the host',
    [OPERATION, 'is not unmounted because somebody names it'],
  ],
  [
    'A parameter of the user was taken for the result of a step',
    [OPERATION, 'does not pass for what a step has found'],
  ],
];

const ownProcessors: readonly Weakness[] = [
  [
    'Wrong or missing input crashed a processor',
    ['pipeline/operations/catalogue.test.ts', '%s answers a step without input'],
    ['pipeline/operations/catalogue.test.ts', '%s says what is missing'],
  ],
  [
    'The capture of a pod contained the traffic of the whole host, and everybody could read it',
    [PROFILERS, 'capture what goes through the network of the pod, and nothing of the node'],
  ],
  [
    'Any file of the host could be downloaded as a core file',
    [PROFILERS, 'list core files by their names, and follow no link to another directory'],
  ],
  [
    'A pod was deleted only because the caller described it',
    [OPERATION, 'removes no pod and cordons no node'],
  ],
  [
    'All files of a directory named by the caller were moved',
    ['pipeline/operations/run-sonobuoy-result.test.ts', 'no file of anybody is moved'],
  ],
  [
    'One search disabled certificate verification for the whole process',
    ['pipeline/operations/run-search.test.ts', 'is verified, for each question again'],
  ],
  [
    'The token of any Secret was sent to any server',
    [
      'pipeline/operations/run-go-profiler.test.ts',
      'a token goes only to the server that its file names',
    ],
  ],
  [
    'Secrets of pods and of command lines were copied into the status',
    ['pipeline/operations/pod-detail.test.ts', 'secrets of a pod reach neither its detail'],
    [
      'pipeline/operations/process-collector.test.ts',
      'a process is listed as in upstream KubeDiag',
    ],
  ],
  [
    'Files written by a processor were never removed',
    [
      'lib/state/stored-files.test.ts',
      'only root can read a stored file, and the oldest files are removed',
    ],
  ],
];

const http: readonly Weakness[] = [
  [
    'Everybody who could reach the port of an agent could act on its node',
    ['hosts/web/server.test.ts', 'without the token nothing but /healthz answers'],
    ['test/journeys/agent.kernel.test.ts', 'turns away %s'],
  ],
  [
    'Internals of the process were exposed on the same port',
    ['hosts/web/server.test.ts', 'shows nothing of the process to anybody'],
  ],
];

export const weaknesses: Readonly<Record<string, readonly Weakness[]>> = {
  'Running a graph': walking,
  Graphs: graphs,
  Steps: steps,
  'Built-in processors': ownProcessors,
  'HTTP server': http,
};
