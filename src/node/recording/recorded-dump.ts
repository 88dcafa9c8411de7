import { fieldAt, listAt } from '../../lib/std/json.ts';
import { isCount, isText } from './recorded-fields.ts';

/** Whether what stands in a bundle is a goroutine dump, with all its parts. */
export function isGoroutineDump(value: unknown): boolean {
  return (
    FORMATS.has(fieldAt(value, 'format')) &&
    ['total', 'left'].every((name) => isCount(fieldAt(value, name))) &&
    isTruth(fieldAt(value, 'isCut')) &&
    (listAt(value, 'groups')?.every(isGroup) ?? false)
  );
}

const FORMATS: ReadonlySet<unknown> = new Set(['counted', 'each', 'none']);

function isGroup(value: unknown): boolean {
  const [state, minutes] = [fieldAt(value, 'state'), fieldAt(value, 'minutes')];
  const [labels, creator] = [fieldAt(value, 'labels'), fieldAt(value, 'createdBy')];
  return (
    isCount(fieldAt(value, 'count')) &&
    (state === null || isText(state)) &&
    (minutes === null || isCount(minutes)) &&
    (listAt(value, 'ids')?.every(isCount) ?? false) &&
    ['isLocked', 'isHeadless', 'isCut'].every((name) => isTruth(fieldAt(value, name))) &&
    (labels === undefined || isText(labels)) &&
    (creator === undefined || isFrame(creator)) &&
    (listAt(value, 'frames')?.every(isFrame) ?? false)
  );
}

function isFrame(value: unknown): boolean {
  const [file, line] = [fieldAt(value, 'file'), fieldAt(value, 'line')];
  const text = fieldAt(value, 'arguments');
  return (
    ['function', 'rawFunction'].every((name) => isText(fieldAt(value, name))) &&
    (file === null || isText(file)) &&
    (line === null || isCount(line)) &&
    (text === undefined || isText(text))
  );
}

const isTruth = (value: unknown) => typeof value === 'boolean';
