import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ReadError } from '../../model/node-reader.ts';
import { type Mount, parseMountTable } from './mount-table.ts';

/** Valid file names: spaces, line breaks, backslashes before digits, "//deleted", invalid UTF-8. */
const name = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1, maxLength: 8 }),
  fc
    .array(fc.constantFrom(' ', '\t', '\n', '\\', '#', '040', '134', '-', 'x', '\udcff', '\r'), {
      minLength: 1,
      maxLength: 6,
    })
    .map((parts) => parts.join('')),
  fc.constantFrom('deleted', ' (deleted)', '..data', ' - ', 'é', '\\040'),
);
const path = fc
  .array(
    name.map((text) => text.replaceAll('/', '').replaceAll('\0', '') || 'x'),
    {
      minLength: 1,
      maxLength: 4,
    },
  )
  .map((names) => `/${names.join('/')}`);
const word = fc.stringMatching(/^[a-z0-9_.,=:-]{1,12}$/).filter((text) => text !== '-');

const mount = fc.record({
  parent: fc.nat(),
  device: fc.tuple(fc.nat(4095), fc.nat(1_048_575)).map((numbers) => numbers.join(':')),
  root: fc.oneof(path, fc.constant('/')),
  isDeleted: fc.boolean(),
  target: path,
  options: word,
  fsType: word,
  source: fc.oneof(path, word, fc.constant('')),
});
const optional = fc.array(
  fc.constantFrom('shared:1', 'master:2', 'propagate_from:3', 'unbindable'),
  { maxLength: 4 },
);
const table = fc
  .uniqueArray(fc.record({ id: fc.nat(), mount, optional }), {
    selector: ({ id }) => id,
    minLength: 1,
    maxLength: 8,
  })
  .map((rows) =>
    rows.map(({ id, mount: it, optional: fields }, index) => ({
      mount: { ...it, id, line: index + 1 } satisfies Mount,
      fields,
    })),
  );

/** Escapes a path as the kernel does: four characters become octal. */
function mangle(text: string): string {
  return text.replace(/[ \t\n\\]/g, (it) => `\\${it.charCodeAt(0).toString(8).padStart(3, '0')}`);
}

function print({ mount: it, fields }: { mount: Mount; fields: readonly string[] }): string {
  const root = `${mangle(it.root)}${it.isDeleted ? '//deleted' : ''}`;
  const before = [it.id, it.parent, it.device, root, mangle(it.target), it.options, ...fields];
  return `${before.join(' ')} - ${it.fsType} ${mangle(it.source)} rw\n`;
}

test('parses a printed table to the original mounts', () => {
  fc.assert(
    fc.property(table, (rows) => {
      const text = rows.map(print).join('');
      const parsed = parseMountTable(text, 'x');
      expect(parsed.mounts).toEqual(rows.map((row) => row.mount));
      const lines = rows.map((row) => print(row).replace(/\r?\n$/, ''));
      expect(parsed.mounts.map(parsed.lineText)).toEqual(lines);
    }),
    { numRuns: 500 },
  );
});

function isTableOrReadError(text: string): boolean {
  try {
    const { mounts, lineText } = parseMountTable(text, 'x');
    return mounts.length > 0 && mounts.every((it) => text.includes(lineText(it)));
  } catch (error) {
    return error instanceof ReadError && error.failure === 'malformed';
  }
}

test('any text is a table or a ReadError', () => {
  const pieces = fc.constantFrom(
    ' ',
    ' - ',
    '\n',
    '\r\n',
    '\\',
    '1',
    '8:1',
    '/',
    '//deleted',
    '\0',
  );
  const hostile = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(fc.oneof(pieces, word, name), { maxLength: 40 }).map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(hostile, (text) => {
      expect(isTableOrReadError(text)).toBe(true);
    }),
    { numRuns: 3_000 },
  );
});

test('a truncated or corrupted table is a table or a ReadError', () => {
  fc.assert(
    fc.property(table, fc.nat(), fc.string({ maxLength: 2 }), (rows, place, other) => {
      const text = rows.map(print).join('');
      const at = place % text.length;
      expect(isTableOrReadError(`${text.slice(0, at)}${other}${text.slice(at + 1)}`)).toBe(true);
      // A text cut in the middle of a line must not pass for a shorter table.
      if (at > 0 && text[at - 1] !== '\n') {
        expect(() => parseMountTable(text.slice(0, at), 'x')).toThrow(ReadError);
      }
    }),
    { numRuns: 1_000 },
  );
});
