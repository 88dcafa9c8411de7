import { fieldAt } from '../../lib/std/json.ts';
import { haveTexts, isCount, isText, listOf } from './recorded-fields.ts';

export function isThread(value: unknown): boolean {
  const call = fieldAt(value, 'systemCall');
  const [callName, path] = [fieldAt(value, 'callName'), fieldAt(value, 'path')];
  const line = fieldAt(value, 'callLine');
  return (
    isCount(fieldAt(value, 'tid')) &&
    haveTexts(value, 'name', 'state', 'waitsIn') &&
    (call === null || isCount(call)) &&
    [callName, path].every((text) => text === null || isText(text)) &&
    (line === undefined || isText(line))
  );
}

export function isThreadStack(value: unknown): boolean {
  const call = fieldAt(value, 'systemCall');
  const texts = [fieldAt(value, 'callName'), fieldAt(value, 'path')];
  const broken = fieldAt(value, 'brokenBy');
  return (
    ['tid', 'waitedMs'].every((name) => isCount(fieldAt(value, name))) &&
    haveTexts(value, 'state', 'waitsIn') &&
    (call === null || isCount(call)) &&
    texts.every((text) => text === null || isText(text)) &&
    (broken === undefined || isText(broken)) &&
    listOf(isStackFrame)(fieldAt(value, 'frames'))
  );
}

function isStackFrame(value: unknown): boolean {
  return haveTexts(value, 'function') && isCount(fieldAt(value, 'offset'));
}
