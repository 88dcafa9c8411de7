import { listAt, numberAt, textAt } from '../../../lib/std/json.ts';
import { wrapQuote, wrapText } from '../../../lib/terminal/wrap.ts';

/** A finding or an action from the status of a Diagnosis, as lines for a person. */
type RecordedLines = (record: unknown, width: number) => readonly string[];

const INDENT = '  ';

/** With the lines that prove it. */
export const findingLines: RecordedLines = (finding, width) => {
  const [fault, id, state, summary] = ['fault', 'id', 'state', 'summary'].map((name) =>
    textAt(finding, name),
  );
  const left = numberAt(finding, 'proofNotListed');
  return [
    ...wrapText(`${fault} ${id} (${state}): ${summary}`, width),
    ...(listAt(finding, 'proof') ?? []).flatMap((proof) => {
      const text = textAt(proof, 'text');
      return [
        ...indented(`${textAt(proof, 'claim')} (${textAt(proof, 'origin')})`, width),
        ...wrapQuote(text ?? '', width - 4).map((line) => `${INDENT}${INDENT}${line}`),
      ];
    }),
    ...(left === undefined
      ? []
      : indented(`${left} more lines of proof: kubediag check ${fault}`, width)),
  ];
};

/** What would be done, to which object, for which finding. */
export const plannedLines: RecordedLines = (action, width) => {
  const summary = textAt(action, 'summary');
  return [
    ...actionDetailLines(action, '', width),
    ...indented(`${forFinding(action)}${summary === undefined ? '' : `: ${summary}`}`, width),
  ];
};

/** What was done or refused, to which object, when, and its journal entry. */
export const actionLines: RecordedLines = (action, width) => {
  const time = textAt(action, 'endTime');
  const entry = numberAt(action, 'journalEntry');
  const facts = [
    forFinding(action),
    time === undefined ? '' : `at ${time}`,
    entry === undefined ? '' : `entry ${entry} of the journal`,
  ];
  return [
    ...actionDetailLines(action, `${textAt(action, 'state')}: `, width),
    ...indented(facts.filter((fact) => fact !== '').join(', '), width),
    ...indented(textAt(action, 'message') ?? '', width),
  ];
};

function actionDetailLines(action: unknown, before: string, width: number): readonly string[] {
  const description = textAt(action, 'description') ?? textAt(action, 'kind');
  const details = (listAt(action, 'details') ?? []).map(String);
  return [
    ...wrapQuote(`${before}${description}`, width),
    ...details.flatMap((each) => indented(each, width)),
  ];
}

/** An action of another version may lack it. */
function forFinding(action: unknown): string {
  const [fault, finding] = [textAt(action, 'fault'), textAt(action, 'finding')];
  return fault === undefined ? '' : `for finding ${fault}/${finding}`;
}

function indented(text: string, width: number): readonly string[] {
  return wrapText(text, width - INDENT.length).map((line) => `${INDENT}${line}`);
}
