import { expect, test } from 'vitest';
import { syntheticTerminal } from '../../../../test/synthetic-agent.ts';
import { type Place, placeText } from '../../../pipeline/api/problem.ts';
import { isGrantedFor } from './agent-error.ts';

const LINES = new Map([
  ['', 1],
  ['spec.nodeName', 7],
]);
const given = {
  file: 'web.yaml',
  lineOf: (place: Place) => LINES.get(placeText(place)) ?? 99,
};

function printedFor(value: unknown): string {
  const terminal = syntheticTerminal();
  expect(isGrantedFor(given, { code: 422, value, warnings: [] }, terminal)).toBe(false);
  return terminal.said().err;
}

const FIELD_MESSAGE = 'spec.nodeName: not this node';

test('an error without causes has the line of the field that its message begins with', () => {
  expect(printedFor({ reason: 'Invalid', message: FIELD_MESSAGE })).toBe(
    `Error from server (Invalid): web.yaml:7: ${FIELD_MESSAGE}\n`,
  );
});

test('an error whose message begins with no field has the first line of the object', () => {
  expect(printedFor({ reason: 'Forbidden', message: 'the token may only read' })).toBe(
    'Error from server (Forbidden): web.yaml:1: the token may only read\n',
  );
});

test.each([
  { field: 'spec.nodeName', message: 'not this node' },
  { message: FIELD_MESSAGE },
  { field: '', message: FIELD_MESSAGE },
])('the cause %o has the line of its field', (cause) => {
  const value = {
    reason: 'Invalid',
    message: 'the object is invalid',
    details: { causes: [cause] },
  };
  expect(printedFor(value)).toBe(`Error from server (Invalid): web.yaml:7: ${FIELD_MESSAGE}\n`);
});
