import { fieldAt } from '../../lib/std/json.ts';
import type { StoredObject } from '../../pipeline/store/store.ts';
import { StatusError } from './status-error.ts';

type Test = (object: StoredObject) => boolean;

/** Which objects a query means: `labelSelector` and `fieldSelector`, as kubectl sends them. */
export function selectorIn(query: URLSearchParams): Test {
  const tests = [
    ...parts(query.get('labelSelector')).map((part) =>
      testOf(part, ({ metadata }, name) => fieldAt(metadata.labels, name)),
    ),
    ...parts(query.get('fieldSelector')).map((part) =>
      testOf(part, (object, name) => fieldAt(object, ...name.split('.'))),
    ),
  ];
  return (object) => tests.every((test) => test(object));
}

/** Between commas, but for those of a set: "app in (a,b),tier". */
function parts(text: string | null): readonly string[] {
  return (text ?? '').split(/,(?![^(]*\))/).filter((part) => part.trim() !== '');
}

// app=web, app==web, app!=web, app, !app, metadata.name=a
const PART = /^\s*(!?)([\w./-]+)\s*(?:(!=|==?)\s*([\w./:-]*))?\s*$/;

// app in (a, b), app notin (a)
const SET = /^\s*([\w./-]+)\s+(in|notin)\s*\(([\w./:,\s-]*)\)\s*$/;

function testOf(part: string, readAt: (object: StoredObject, name: string) => unknown): Test {
  const [, named, word, values = ''] = SET.exec(part) ?? [];
  if (named !== undefined) {
    const wanted = values.split(',').map((value) => value.trim());
    // What has no such label is in no set, as in Kubernetes.
    return (object) => wanted.some((value) => readAt(object, named) === value) === (word === 'in');
  }
  const [, not, name, operator, wanted] = PART.exec(part) ?? [];
  if (name === undefined || (not && operator)) {
    const words = `the selector "${part}" is not understood: write a=b, a!=b, a, !a, a in (b,c) or a notin (b,c)`;
    throw new StatusError('BadRequest', words);
  }
  if (operator === undefined) {
    return (object) => (readAt(object, name) !== undefined) === (not === '');
  }
  return (object) => {
    const value = readAt(object, name);
    const isText = typeof value === 'string' || typeof value === 'number';
    return (isText || typeof value === 'boolean' ? String(value) : '') === wanted
      ? operator !== '!='
      : operator === '!=';
  };
}
