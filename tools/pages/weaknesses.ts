/** What went wrong in released versions of KubeDiag, and the tests that show that it cannot here. */
export type Weakness = readonly [was: string, ...shownBy: readonly TestName[]];

/** The file, below src/ or as it is, and the words with which the name of the test begins. */
export type TestName = readonly [file: string, title: string];

const AGENT = 'hosts/agent/interrupted-run.test.ts';
const DECIDE = 'pipeline/graph/decide-next.test.ts';
const DRIVE = 'pipeline/diagnosis/drive-diagnosis.test.ts';
const STORED = 'pipeline/diagnosis/drive-over-store.test.ts';
const FUNCTION = 'pipeline/operations/run-function.kernel.test.ts';
const HTTP = 'pipeline/operations/run-http.test.ts';
const JOURNEY = 'test/journeys/external-processors.kernel.test.ts';
const KEEP = 'pipeline/diagnosis/store-result.test.ts';
const OPERATION = 'pipeline/operations/run-operation.test.ts';
const PATHS = 'pipeline/graph/paths.test.ts';
const PROFILERS = 'test/journeys/profilers.runtime.test.ts';
const RUNNER = 'pipeline/diagnosis/runner.test.ts';
const SCRIPT = 'pipeline/operations/run-script.test.ts';
const STEP = 'pipeline/diagnosis/run-step.test.ts';

const walking: readonly Weakness[] = [
  [
    'After a path failed, the next one began in its middle',
    [DRIVE, 'a path that fails is followed by the next one, from its first step'],
    [DECIDE, 'a path that fails is followed by the next, from its first step'],
  ],
  [
    'A conflict when the status was written ran the step again, up to four times',
    [DRIVE, 'a write by somebody else in the middle of a step runs nothing twice'],
    [STORED, 'a store that fails for a while is waited for, and no step is run again'],
  ],
  [
    'Any change of an object while a step ran started that step a second time',
    [AGENT, 'changes of labels and annotations in the middle of a step run nothing twice'],
  ],
  [
    'An OperationSet applied after its Diagnosis, in one file with it, came too late',
    [DRIVE, 'an OperationSet that comes after its Diagnosis is waited for'],
    [RUNNER, 'one that waits is woken by what it waits for'],
  ],
  [
    'A Diagnosis failed for a graph that had not changed, or a label of the user hid a change',
    [DRIVE, 'a graph that is edited in the middle ends it, and a label from outside'],
    [AGENT, 'an OperationSet that is edited in the middle of a step ends its Diagnosis'],
  ],
  [
    'An Operation that was missing ended the whole, though another path had none of it',
    [DRIVE, 'an Operation that is missing fails its path, not the Diagnosis'],
    [AGENT, 'an Operation that is deleted in the middle of a step is not run'],
  ],
  [
    'A pod or a node that was not found, or a selector that fits none, was waited for without end',
    [DRIVE, 'the node of a pod is written down, and a node that nobody serves'],
    [AGENT, 'what never comes is told when its time is over'],
  ],
  [
    'A Diagnosis with dots in its name, as every alert makes one, never ended',
    [AGENT, 'a Diagnosis with dots in its name, whose graph and steps come after it'],
  ],
  [
    'A step was not told what those before it had found, nor which pod is meant',
    [JOURNEY, 'each is told what came before it'],
    ['pipeline/operations/step-input.test.ts', 'a step is told %s'],
  ],
  [
    'When all paths had failed, no condition said so',
    [DECIDE, 'when all paths have failed, a condition says so'],
  ],
  [
    'A step that two paths share was run in each, with what it does to the node',
    [DRIVE, 'a step that two paths share is run in each, under one purpose'],
  ],
  [
    'A full queue lost Diagnoses, and one unreachable server held up all others',
    [RUNNER, 'drives so many at once and no more, and forgets none'],
    [AGENT, 'a server that nobody can reach holds up no other Diagnosis'],
  ],
  [
    'An error in one step ended the agent, and again at each of its starts',
    [RUNNER, 'a mistake of ours ends the Diagnosis that it was made with'],
    [STEP, 'steps that repair take turns, and one that breaks off fails alone'],
  ],
  [
    'After a restart, what had ended was run or counted again',
    ['test/journeys/killed-agent-collecting.kernel.test.ts', 'killed again and again while it'],
    [
      'test/journeys/killed-at-random.kernel.test.ts',
      'killed at any moment, nothing is done twice',
    ],
  ],
  [
    'Nothing could be cancelled, limited in time, tried without effect, or approved before',
    [DRIVE, 'a cancel in the middle of a step keeps its result, and begins no other'],
    [DRIVE, 'one whose time is over begins no further step, and says so'],
    [STEP, 'with a dry run, or with recovery "Never", nothing is changed'],
    [STEP, 'with recovery "Approval" it waits, and says what for'],
  ],
  [
    'Results outgrew etcd, and the write that failed ran the step again',
    [KEEP, 'a result that is too large for a status is handed on whole'],
    [KEEP, 'the largest of many results make room, and a status has its limit'],
    [KEEP, 'what is too much altogether fails its step, once'],
  ],
  [
    'Ended Diagnoses stayed for ever, or went at a time that nobody could tell',
    [RUNNER, 'one that has ended is deleted when its time has come'],
    [RUNNER, 'one that is to be deleted is deleted by the next process too, and another is kept'],
  ],
  [
    'Diagnoses that were under way were deleted to make room',
    [AGENT, 'one that is to be kept for no time is deleted after its end, and not before'],
  ],
  [
    'A failure was counted at each look at it, and no step was timed',
    [AGENT, 'each end is counted once, and each step is timed'],
  ],
];

const graphs: readonly Weakness[] = [
  [
    'The order of paths was another one at each start',
    ['pipeline/graph/paths.prop.test.ts', 'the order of two paths is that of "to"'],
  ],
  [
    'An edge to itself or out of range crashed the controller',
    ['pipeline/graph/paths.prop.test.ts', 'every graph gets an answer'],
    ['hosts/web/resources.test.ts', 'a bad graph is refused with all that is wrong with it'],
  ],
  ['A circle or an unreachable node burnt a core, and said nothing', [PATHS, 'a cycle']],
  [
    'Graphs with very many paths filled the memory',
    [PATHS, 'more paths than a status holds, however many that are'],
  ],
  [
    'Nodes without an id made an empty graph that was called ready',
    [PATHS, 'nodes are copied whole, numbered by their position'],
  ],
];

const steps: readonly Weakness[] = [
  ['A script that failed was a success', [SCRIPT, 'its code is honoured, and its output is kept']],
  [
    'A missing argument moved the others',
    [SCRIPT, 'arguments keep their places when one is missing'],
  ],
  [
    'A script that ignores TERM was never ended, and what it had started lived on',
    [SCRIPT, 'one that ignores TERM is killed'],
    [JOURNEY, 'leaves nobody behind, and the agent stands'],
  ],
  [
    'An older text of a script was run, or none',
    [SCRIPT, 'it is the text of this moment that runs'],
  ],
  [
    'A function that failed without a word crashed the agent of its node',
    [JOURNEY, 'silent-function'],
    [FUNCTION, 'answers with nothing'],
  ],
  [
    'Files of a function could be written outside its folder',
    [FUNCTION, 'because a file of it is called %j'],
  ],
  [
    'An Operation without a path, a scheme or a time crashed the agent',
    [OPERATION, 'without path, scheme and time it has the usual ones'],
  ],
  [
    'No server had to prove who it is, and answers were read whole before their size was known',
    [HTTP, 'for which nobody vouches is told nothing'],
    [HTTP, 'an endless answer is not read to its end'],
  ],
  [
    'A server was asked again as if for the first time, and nobody could say how often',
    [HTTP, 'a reset, until there is an answer'],
    [OPERATION, 'it is asked no oftener than it says'],
  ],
  [
    'A step could be sent to where a cloud hands out credentials',
    [HTTP, '%s is not asked, and not tried again'],
  ],
  [
    'A path that a caller named was unmounted on the host',
    [OPERATION, 'is not unmounted because somebody names it'],
  ],
  [
    'A parameter of the user passed for what a step had found',
    [OPERATION, 'does not pass for what a step has found'],
  ],
];

const ownProcessors: readonly Weakness[] = [
  [
    'Ordinary input that was wrong or missing crashed a processor',
    ['pipeline/operations/processors.test.ts', '%s answers a step that was told nothing'],
    ['pipeline/operations/processors.test.ts', '%s says what is missing'],
  ],
  [
    'The capture of a pod was one of the whole host, and open to everybody',
    [PROFILERS, 'capture what goes through the network of the pod, and nothing of the node'],
  ],
  [
    'Any file of the host could be had as a core file',
    [PROFILERS, 'tell core files by their names, and follow nobody to another folder'],
  ],
  [
    'A pod was deleted because the caller described one',
    [OPERATION, 'removes no pod and cordons no node'],
  ],
  [
    'All files of a folder that the caller named were moved',
    ['pipeline/operations/run-sonobuoy-result.test.ts', 'no file of anybody is moved'],
  ],
  [
    'One search switched the check of certificates off for the whole process',
    ['pipeline/operations/run-search.test.ts', 'is verified, for each question anew'],
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
      'a process is told as every KubeDiag tells it',
    ],
  ],
  [
    'What a processor had kept was never removed',
    ['lib/state/stored-files.test.ts', 'a file is kept for root alone, and the oldest make room'],
  ],
];

const doors: readonly Weakness[] = [
  [
    'Whoever reached the port of an agent could act on its node',
    ['hosts/web/server.test.ts', 'without the token nothing but /healthz answers'],
    ['test/journeys/agent.kernel.test.ts', 'turns away %s'],
  ],
  [
    'The inside of the process was shown on the same port',
    ['hosts/web/server.test.ts', 'nothing of the inside of the process is shown'],
  ],
];

export const weaknesses: Readonly<Record<string, readonly Weakness[]>> = {
  'Walking a graph': walking,
  Graphs: graphs,
  Steps: steps,
  'Processors of our own': ownProcessors,
  Doors: doors,
};
