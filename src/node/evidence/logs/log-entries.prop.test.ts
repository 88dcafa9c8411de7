import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  ALL_SIGNATURES,
  escaped,
  klogLine,
  WORDINGS,
  WRAPPINGS,
} from '../../../../test/log-wordings.ts';
import { redactionRules } from '../../faults/index.ts';
import { redactLog } from '../../redaction/redact-log.ts';
import { kubeletLogOf, linesIn, logOfLines } from './log-entries.ts';

const OPTIONS = { now: new Date('2026-11-15T12:00:00Z'), signatures: ALL_SIGNATURES };

const line = fc
  .record({
    wording: fc.constantFrom(...WORDINGS),
    wrap: fc.constantFrom(...Object.values(WRAPPINGS)),
    depth: fc.nat(3),
  })
  .map(({ wording, wrap, depth }) => wrap(klogLine(escaped(wording.message, depth))));

const lines = fc.array(fc.oneof(line, fc.string()), { maxLength: 8 });

test('reads a truncated log up to its end', () => {
  fc.assert(
    fc.property(lines, fc.nat(4000), fc.nat(4000), (given, from, length) => {
      const text = given.join('\n').slice(from, from + length);
      const whole = kubeletLogOf(given.join('\n'), 'a.log', OPTIONS);
      const cut = kubeletLogOf(text, 'a.log', OPTIONS);
      expect(cut.entries.length).toBeLessThanOrEqual(whole.entries.length + 3);
      expect(whole.unasked).toEqual([]);
    }),
  );
});

test('invalid bytes, invalid JSON and lone surrogates do not end a check', () => {
  const odd = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.json({ maxDepth: 1 }),
    fc
      .jsonValue({ maxDepth: 1 })
      .map((value) => JSON.stringify({ MESSAGE: value, log: value, msg: value })),
    fc.tuple(line, fc.string({ unit: 'binary' })).map(([left, right]) => left + right),
  );
  fc.assert(
    fc.property(fc.array(odd, { maxLength: 6 }), (given) => {
      for (const entry of kubeletLogOf(given.join('\n'), 'a', OPTIONS).entries) {
        expect(Number.isNaN(entry.time?.getTime())).toBe(false);
      }
    }),
    { numRuns: 40 },
  );
});

test('a redacted log gives the same entries', () => {
  const output = ({ entries }: ReturnType<typeof logOfLines>) =>
    entries.map(({ signature, fields, time, origin }) => ({ signature, fields, time, origin }));
  fc.assert(
    fc.property(lines, (given) => {
      const read = linesIn([given.join('\n')], {
        ...OPTIONS,
        modifiedMs: Date.parse('2026-04-18T00:00:00Z'),
      });
      const whole = logOfLines(read, { file: 'a.log' }, OPTIONS);
      const safe = logOfLines(redactLog(read, redactionRules), { file: 'a.log' }, OPTIONS);
      expect(output(safe)).toEqual(output(whole));
      expect(safe.sources).toEqual(whole.sources);
      expect(redactLog(redactLog(read, redactionRules), redactionRules)).toEqual(
        redactLog(read, redactionRules),
      );
    }),
  );
});

test('no line makes a pattern run forever', () => {
  const filler = fc.constantFrom(
    '/a',
    '\\',
    ' ',
    '(UID: "',
    'a',
    '//',
    'rename /',
    '"',
    ': ',
    '-',
    'n',
  );
  fc.assert(
    fc.property(
      fc.constantFrom(...WORDINGS),
      filler,
      fc.boolean(),
      ({ message }, fill, isAfter) => {
        const long = fill.repeat(8000 / fill.length);
        const text = isAfter ? `${message.slice(0, -4)}${long}` : `${long}${message}`;
        // A pattern that backtracks over this line would not end in time.
        expect(kubeletLogOf(text, 'a', OPTIONS).sources[0]?.linesRead).toBe(1);
      },
    ),
    { numRuns: 300 },
  );
});
