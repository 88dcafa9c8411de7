/**
 * JSON for people and programs. Control and format characters are written as escapes, also those
 * that JSON allows as they are: the value is the same, and no terminal obeys it.
 */
export function jsonText(value: unknown, indent = 0): string {
  return JSON.stringify(value, null, indent).replace(ACTIVE, escaped);
}

/** Line breaks stand between the values only; within a text JSON escapes them itself. */
const ACTIVE = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

function escaped(character: string): string {
  return character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}
