import {
  type QuestionKind,
  ReadError,
  type ReadFailure,
} from '../../src/node/model/node-reader.ts';
import { QUESTION_MS } from '../../src/node/reader/limits.ts';
import { type Declared, declaredAs, type Field } from './doc-comments.ts';
import { code, fenced, tableOf } from './markdown.ts';

const ACTION = 'src/node/model/action.ts';
const READER = 'src/node/model/node-reader.ts';

/** docs/reference/actions.md: every change we can make, with the comments of the source. */
export function actionsPage(): string {
  const { comment, fields } = declaredAs(ACTION, 'ActionArguments');
  const outcome = declaredAs(ACTION, 'Outcome');
  return [
    '# Actions\n',
    `${comment}\n`,
    ...fields.map((field) => part(field, fenced('ts', field.type))),
    '## Outcome of an action\n',
    `${outcome.comment}\n`,
    fenced('ts', `type Outcome =\n${indented(outcome.text)}`),
    typePart('Failure', declaredAs(ACTION, 'Failure')),
    typePart('ManualSteps', declaredAs(ACTION, 'ManualSteps')),
  ].join('\n');
}

/** docs/reference/questions.md: everything that can be asked of a node. */
export function questionsPage(): string {
  const { comment, fields } = declaredAs(READER, 'Questions');
  const answers = ['FileStatus', 'HttpAnswer', 'RuntimeAnswer'];
  return [
    '# Questions\n',
    `${comment}\n`,
    ...fields.map((field) => {
      const limit = `Timeout: ${QUESTION_MS[field.name as QuestionKind] / 1000} s.\n`;
      return `${part(field, fenced('ts', field.type))}\n${limit}`;
    }),
    '## Answers with several fields\n',
    ...answers.map((name) => typePart(name, declaredAs(READER, name))),
    '## Failures of a question\n',
    failureTable(),
  ].join('\n');
}

function failureTable(): string {
  const failures = declaredAs(READER, 'ReadFailure').words;
  if (failures.length === 0) throw new Error(`${READER} has no ways to fail`);
  const rows = failures.map(({ word, comment }) => {
    // As a person reads it when nothing more is known: "PATH: permission denied".
    const words = new ReadError(word as ReadFailure, 'PATH').message.slice('PATH: '.length);
    return [code(word), words, comment === words ? '' : comment];
  });
  return tableOf(['failure', 'in words', 'note'], rows);
}

function part({ name, comment }: Field, body: string): string {
  if (!comment) throw new Error(`${name} has no comment`);
  return `## ${code(name)}\n\n${comment}\n\n${body}`;
}

function typePart(name: string, { comment, text }: Declared): string {
  return `${comment ? `${comment}\n\n` : ''}${fenced('ts', `interface ${name} ${text}`)}`;
}

function indented(text: string): string {
  return text
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n');
}
