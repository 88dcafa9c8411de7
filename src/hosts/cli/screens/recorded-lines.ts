import { fieldAt, listAt, textAt } from '../../../lib/std/json.ts';
import { wrapQuote, wrapText } from '../../../lib/terminal/wrap.ts';

/** What the status of a Diagnosis tells of a finding or of an action, as lines for a person. */
type RecordedLines = (record: unknown, width: number) => readonly string[];

const INDENT = '  ';

/** With the lines that prove it: whoever reads this may want to see for themselves. */
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
      : indented(`${left} lines of proof: kubediag check ${fault} shows them`, width)),
  ];
};

/** What would be done, to what, and what for. */
export const plannedLines: RecordedLines = (action, width) => {
  const summary = textAt(action, 'summary');
  return [
    ...actionDetailLines(action, '', width),
    ...indented(`${forFinding(action)}${summary === undefined ? '' : `: ${summary}`}`, width),
  ];
};

/** What was done or refused, to what, when, and where the node tells of it. */
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

/** Of an action that another version wrote it is not known. */
function forFinding(action: unknown): string {
  const [fault, finding] = [textAt(action, 'fault'), textAt(action, 'finding')];
  return fault === undefined ? '' : `for finding ${fault}/${finding}`;
}

function indented(text: string, width: number): readonly string[] {
  return wrapText(text, width - INDENT.length).map((line) => `${INDENT}${line}`);
}

function numberAt(value: unknown, name: string): number | undefined {
  const number = fieldAt(value, name);
  return typeof number === 'number' ? number : undefined;
}
