import { object, property, assert as prove } from 'fast-check';
import { expect, test } from 'vitest';
import { mergePatch } from '../../web/merge-patch.ts';
import { applyPatch } from './apply-patch.ts';

/** Without null, which a patch cannot say, and without the one name that is none of an object's own. */
const manifest = object({ maxDepth: 3, withNullPrototype: false }).map(
  (value) => JSON.parse(JSON.stringify(value), (_, each: unknown) => each ?? 0) as object,
);

test('a patch of what was applied last, on what it had made, makes what is wanted now', () => {
  prove(
    property(manifest, manifest, (last, wanted) => {
      expect(mergePatch(last, applyPatch(last, wanted))).toEqual(wanted);
    }),
  );
});

test('what others have set beside it stays', () => {
  const last = { spec: { a: 1, gone: 2, list: [1] } };
  const wanted = { spec: { a: 3, list: [2] } };
  const stored = { spec: { ...last.spec, cancel: true }, status: { phase: 'Running' } };
  expect(mergePatch(stored, applyPatch(last, wanted))).toEqual({
    spec: { a: 3, list: [2], cancel: true },
    status: { phase: 'Running' },
  });
});

test('no patch reaches behind an object', () => {
  const patch = JSON.parse('{"__proto__": {"polluted": true}}') as object;
  const merged = mergePatch({}, patch) as Readonly<Record<string, unknown>>;
  expect(Object.hasOwn(merged, '__proto__')).toBe(true);
  expect(({} as Readonly<Record<string, unknown>>).polluted).toBeUndefined();
});
