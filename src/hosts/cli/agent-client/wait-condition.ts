import { fieldAt, listAt, numberAt, textAt } from '../../../lib/std/json.ts';
import { UsageError } from '../../../lib/terminal/terminal.ts';
import { valuesAt, valueText } from '../screens/json-path.ts';
import { parseOnePath } from '../screens/parse-json-path.ts';

/** What `--for` waits for: an object is deleted, exists, or meets a condition. */
export type WaitCondition =
  | { readonly is: 'delete' }
  | { readonly is: 'create' }
  | { readonly is: 'object'; readonly isMet: (object: unknown) => boolean };

// condition=Complete, condition=Accepted=false
const CONDITION = /^condition=([^=]+)(?:=(.+))?$/;
// jsonpath={.status.phase}=Succeeded, jsonpath={.status.phase}, jsonpath=.status.phase=Succeeded
const JSON_PATH = /^jsonpath=(\{[^}]*\}|[^={}]+)(?:=(.+))?$/s;

export function waitCondition(text: string): WaitCondition {
  const word = text.toLowerCase();
  if (word === 'delete') return { is: 'delete' };
  if (word === 'create') return { is: 'create' };
  const [, type, status = 'true'] = CONDITION.exec(text) ?? [];
  if (type !== undefined) return { is: 'object', isMet: hasCondition(type, status) };
  if (text.startsWith('jsonpath=')) {
    const [, path, value] = JSON_PATH.exec(text) ?? [];
    if (path === undefined) {
      throw new UsageError(
        "jsonpath wait format must be --for=jsonpath='{.status.phase}'=Succeeded or " +
          "--for=jsonpath='{.status.phase}'",
      );
    }
    return { is: 'object', isMet: hasValue(path, value) };
  }
  throw new UsageError(
    `unrecognized condition: "${text}", expected delete, create, condition=NAME, ` +
      "condition=NAME=STATUS or jsonpath='{PATH}'=VALUE",
  );
}

function hasCondition(type: string, status: string): (object: unknown) => boolean {
  const isSame = (left: string | undefined, right: string) =>
    left?.toLowerCase() === right.toLowerCase();
  return (object) => {
    const found = (listAt(object, 'status', 'conditions') ?? []).find((each) =>
      isSame(textAt(each, 'type'), type),
    );
    // A condition of an older generation does not count.
    const seen = numberAt(found, 'observedGeneration');
    const generation = numberAt(object, 'metadata', 'generation');
    const isOld = seen !== undefined && generation !== undefined && seen < generation;
    return !isOld && isSame(textAt(found, 'status'), status);
  };
}

function hasValue(path: string, value: string | undefined): (object: unknown) => boolean {
  const steps = parseOnePath(path);
  return (object) => {
    const values = valuesAt(steps, object).filter((each) => each !== null);
    if (values.length > 1) {
      throw new UsageError(`given jsonpath expression matches more than one value: ${path}`);
    }
    const [found] = values;
    if (found === undefined) return false;
    return value === undefined || (typeof found !== 'object' && valueText(found) === value);
  };
}

/** An object that was recreated under the same name has another UID. */
export function uidOf(object: unknown): unknown {
  return fieldAt(object, 'metadata', 'uid');
}
