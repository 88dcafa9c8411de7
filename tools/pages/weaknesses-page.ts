import { readFileSync } from 'node:fs';
import { tableOf } from './markdown.ts';

/** What went wrong in released versions of KubeDiag, and the tests that show that it cannot here. */
interface Weakness {
  readonly was: string;
  /** By the file of the test below src/, the words that it is called by. */
  readonly shownBy: readonly (readonly [file: string, title: string])[];
}

const DRIVE = 'diagnosis/drive-diagnosis.test.ts';
const KEEP = 'diagnosis/keep-result.test.ts';
const STEP = 'diagnosis/run-step.test.ts';
const RUNNER = 'diagnosis/runner.test.ts';
const DECIDE = 'graph/decide-next.test.ts';
const PATHS = 'graph/paths.test.ts';

const parts: readonly (readonly [string, readonly Weakness[]])[] = [
  [
    'Walking a graph',
    [
      {
        was: 'After a path failed, the next one began in its middle',
        shownBy: [
          [DRIVE, 'a path that fails is followed by the next one, from its first step'],
          [DECIDE, 'a path that fails is followed by the next, from its first step'],
        ],
      },
      {
        was: 'A conflict when the status was written ran the step again, up to four times',
        shownBy: [
          [DRIVE, 'a write by somebody else in the middle of a step runs nothing twice'],
          [DRIVE, 'a store that fails for a while is waited for, and no step is run again'],
        ],
      },
      {
        was: 'An OperationSet applied after its Diagnosis, in one file with it, came too late',
        shownBy: [
          [DRIVE, 'an OperationSet that comes after its Diagnosis is waited for'],
          [RUNNER, 'one that waits is woken by what it waits for'],
        ],
      },
      {
        was: 'A Diagnosis failed for a graph that had not changed, or a label of the user hid a change',
        shownBy: [
          [DRIVE, 'a graph that is edited in the middle ends it, and a label from outside'],
        ],
      },
      {
        was: 'An Operation that was missing ended the whole, though another path had none of it',
        shownBy: [[DRIVE, 'an Operation that is missing fails its path, not the Diagnosis']],
      },
      {
        was: 'A pod or a node that was not found left the phase empty, or Pending for ever',
        shownBy: [[DRIVE, 'the node of a pod is written down, and a node that nobody serves']],
      },
      {
        was: 'When all paths had failed, no condition said so',
        shownBy: [[DECIDE, 'when all paths have failed, a condition says so']],
      },
      {
        was: 'A step that two paths share was run in each, with what it does to the node',
        shownBy: [[DRIVE, 'a step that two paths share is run in each, under one purpose']],
      },
      {
        was: 'A full queue lost Diagnoses, and one unreachable server held up all others',
        shownBy: [[RUNNER, 'drives so many at once and no more, and forgets none']],
      },
      {
        was: 'An error in one step ended the agent, and again at each of its starts',
        shownBy: [
          [RUNNER, 'a mistake of ours ends the Diagnosis that it was made with'],
          [STEP, 'steps that repair take turns, and one that breaks off fails alone'],
        ],
      },
      {
        was: 'Nothing could be cancelled, limited in time, tried without effect, or approved before',
        shownBy: [
          [DRIVE, 'a cancel in the middle of a step keeps its result, and begins no other'],
          [DRIVE, 'one whose time is over begins no further step, and says so'],
          [STEP, 'with a dry run, or with recovery "Never", nothing is changed'],
          [STEP, 'with recovery "Approval" it waits, and says what for'],
        ],
      },
      {
        was: 'Results outgrew etcd, and the write that failed ran the step again',
        shownBy: [
          [KEEP, 'a result that is too large for a status is handed on whole'],
          [KEEP, 'the largest of many results make room, and a status has its limit'],
          [KEEP, 'what is too much altogether fails its step, once'],
        ],
      },
      {
        was: 'Ended Diagnoses stayed for ever, or went at a time that nobody could tell',
        shownBy: [[RUNNER, 'one that has ended is deleted when its time has come']],
      },
    ],
  ],
  [
    'Graphs',
    [
      {
        was: 'The order of paths was another one at each start',
        shownBy: [['graph/paths.prop.test.ts', 'the order of two paths is that of "to"']],
      },
      {
        was: 'An edge to itself or out of range crashed the controller',
        shownBy: [['graph/paths.prop.test.ts', 'every graph gets an answer']],
      },
      {
        was: 'A circle or an unreachable node burnt a core, and said nothing',
        shownBy: [[PATHS, 'a cycle']],
      },
      {
        was: 'Graphs with very many paths filled the memory',
        shownBy: [[PATHS, 'more paths than a status holds, however many that are']],
      },
      {
        was: 'Nodes without an id made an empty graph that was called ready',
        shownBy: [[PATHS, 'nodes are copied whole, numbered by their position']],
      },
    ],
  ],
  [
    'Steps',
    [
      {
        was: 'A script that failed was a success',
        shownBy: [
          ['operations/run-script.test.ts', 'its code is honoured, and its output is kept'],
        ],
      },
      {
        was: 'A missing argument moved the others',
        shownBy: [
          ['operations/run-script.test.ts', 'arguments keep their places when one is missing'],
        ],
      },
      {
        was: 'A script that ignores TERM was never ended',
        shownBy: [['operations/run-script.test.ts', 'one that ignores TERM is killed']],
      },
      {
        was: 'An older text of a script was run, or none',
        shownBy: [['operations/run-script.test.ts', 'it is the text of this moment that runs']],
      },
      {
        was: 'No server had to prove who it is, and answers were read whole before their size was known',
        shownBy: [
          ['operations/run-http.test.ts', 'for which nobody vouches is told nothing'],
          ['operations/run-http.test.ts', 'an endless answer is not read to its end'],
        ],
      },
      {
        was: 'A path that a caller named was unmounted on the host',
        shownBy: [
          ['operations/run-operation.test.ts', 'is not unmounted because somebody names it'],
        ],
      },
      {
        was: 'A parameter of the user passed for what a step had found',
        shownBy: [['operations/run-operation.test.ts', 'does not pass for what a step has found']],
      },
    ],
  ],
];

/** docs/reference/weaknesses.md. A test that is no longer there is an error. */
export function weaknessesPage(): string {
  return [
    '# What cannot happen here\n',
    'Released versions of KubeDiag had these weaknesses. Each has a test that shows that it is not one here.\n',
    ...parts.flatMap(([title, weaknesses]) => [
      `## ${title}\n`,
      tableOf(
        ['it happened', 'shown by'],
        weaknesses.map(({ was, shownBy }) => [was, shownBy.map(linked).join('; ')]),
      ),
    ]),
  ].join('\n');
}

function linked([file, title]: readonly [string, string]): string {
  const path = `src/${file}`;
  if (!readFileSync(path, 'utf8').includes(`'${title}`)) {
    throw new Error(`${path} has no test that begins with "${title}"`);
  }
  return `[${title}](../../${path})`;
}
