import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { countedDump, eachDump, journalOf } from '../../../test/synthetic-dump.ts';
import { DumpParser, parseGoroutineDump } from './dump-parser.ts';

const name = fc.constantFrom(
  'main.main.func1',
  'os.Stat',
  'k8s.io/kubernetes/pkg/kubelet.(*Kubelet).syncLoop',
  'sync.(*Map[...]).Load',
  'github.com/é/x.(*T).M',
);
const goroutine = fc.record({
  functions: fc.array(name, { minLength: 1, maxLength: 4 }),
  state: fc.constantFrom('select', 'syscall', 'chan receive (nil chan)', 'sync.RWMutex.RLock'),
  minutes: fc.nat(3),
  count: fc.integer({ min: 1, max: 3 }),
});
const dumpText = fc
  .tuple(
    fc.array(goroutine, { minLength: 1, maxLength: 5 }),
    fc.constantFrom(eachDump, countedDump, (fixture: []) => journalOf(eachDump(fixture))),
  )
  .map(([goroutines, print]) => print(goroutines as []));

test('the result does not depend on how the dump is split into chunks', () => {
  fc.assert(
    fc.property(dumpText, fc.array(fc.nat(2_000), { maxLength: 6 }), (text, cuts) => {
      const bytes = Buffer.from(text);
      const parser = new DumpParser();
      let from = 0;
      for (const cut of cuts.toSorted((left, right) => left - right)) {
        parser.push(bytes.subarray(from, cut));
        from = Math.max(from, Math.min(cut, bytes.length));
      }
      parser.push(bytes.subarray(from));
      expect(parser.finish()).toEqual(parseGoroutineDump(text));
    }),
  );
});

test('a dump that is cut within a goroutine is marked as cut, and adds no stack', () => {
  fc.assert(
    fc.property(dumpText, fc.nat(), (text, at) => {
      const cut = text.slice(0, at % text.length);
      const [whole, part] = [parseGoroutineDump(text), parseGoroutineDump(cut)];
      expect(whole.isCut).toBe(false);
      expect(part.total).toBeLessThanOrEqual(whole.total);
      const isBetween = cut === '' || cut.endsWith('+0x5\n') || cut.endsWith('+0x5\n\n');
      const isNothing = part.format === 'none';
      expect(part.isCut || isBetween || isNothing).toBe(true);
    }),
  );
});

test('the parser accepts any text', () => {
  const word = fc.constantFrom(
    'goroutine 1 [select]:\n',
    '#\t0x1\t',
    '1 @ 0x1\n',
    'a.b()\n',
    '\t',
    ':1\n',
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(word, fc.string()), { maxLength: 20 }), (words) => {
      const dump = parseGoroutineDump(words.join(''));
      expect(dump.groups.every(({ count }) => count > 0) || dump.total === 0).toBe(true);
    }),
  );
});
