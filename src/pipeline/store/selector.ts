import { fieldAt } from '../../lib/std/json.ts';
import type { Selection, StoredObject } from './store.ts';
import { StoreError } from './store-error.ts';

type Matches = (object: StoredObject) => boolean;

/**
 * Whether an object is part of a selection; undefined if all are. Throws `BadRequest` for a malformed
 * selector.
 */
export function matcherOf(selection: Selection): Matches | undefined {
  const { namespace, labelSelector, fieldSelector } = selection;
  const tests = [
    ...requirements(labelSelector).map((text) =>
      testOf(text, ({ metadata }, name) => fieldAt(metadata.labels, name)),
    ),
    ...requirements(fieldSelector).map((text) =>
      testOf(text, (object, name) => fieldAt(object, ...name.split('.'))),
    ),
  ];
  if (namespace === undefined && tests.length === 0) return undefined;
  return (object) =>
    (namespace === undefined || object.metadata.namespace === namespace) &&
    tests.every((test) => test(object));
}

/** Separated by commas, except those within a set: "app in (a,b),tier". */
function requirements(selector = ''): readonly string[] {
  return selector.split(/,(?![^(]*\))/).filter((text) => text.trim() !== '');
}

// app=web, app==web, app!=web, app, !app, metadata.name=a
const REQUIREMENT = /^\s*(!?)([\w./-]+)\s*(?:(!=|==?)\s*([\w./:-]*))?\s*$/;

// app in (a, b), app notin (a)
const SET = /^\s*([\w./-]+)\s+(in|notin)\s*\(([\w./:,\s-]*)\)\s*$/;

function testOf(text: string, valueAt: (object: StoredObject, name: string) => unknown): Matches {
  const [, key, operator, set = ''] = SET.exec(text) ?? [];
  if (key !== undefined) {
    const values = set.split(',').map((value) => value.trim());
    // An object without the label is in no set, as in Kubernetes.
    return (object) =>
      values.some((value) => valueAt(object, key) === value) === (operator === 'in');
  }
  const [, not, name, comparison, wanted] = REQUIREMENT.exec(text) ?? [];
  if (name === undefined || (not && comparison)) {
    const hint = 'use a=b, a!=b, a, !a, a in (b,c) or a notin (b,c)';
    throw new StoreError('BadRequest', `selector "${text}": not understood; ${hint}`);
  }
  if (comparison === undefined) {
    return (object) => (valueAt(object, name) !== undefined) === (not === '');
  }
  return (object) => {
    const value = valueAt(object, name);
    const isPlain = ['string', 'number', 'boolean'].includes(typeof value);
    return ((isPlain ? String(value) : '') === wanted) === (comparison !== '!=');
  };
}
