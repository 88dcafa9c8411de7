import { lstatSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { pathInRoot } from './path-in-root.ts';

const RUNS = 300;
const scratch = mkdtempSync(join(tmpdir(), 'kubediag-roots-'));
writeFileSync(join(scratch, 'outside'), 'ours');
afterAll(() => rmSync(scratch, { recursive: true }));

const name = fc.constantFrom('a', 'b', 'proc', '1', 'root', 'cwd', 'fd', 'self', 'outside');
const part = fc.oneof({ weight: 4, arbitrary: name }, fc.constantFrom('..', '.', ''));
/** Names that we read in a special way where they are real. */
const special = fc.constantFrom(['proc', '1', 'root'], ['proc', '1', 'cwd'], ['proc', 'self']);
const parts = fc.array(part, { minLength: 1, maxLength: 7 });
const path = fc
  .oneof(
    parts,
    fc.tuple(special, parts).map((both) => both.flat()),
  )
  .map((names) => `/${names.join('/')}`);
const target = fc.oneof(
  path,
  path.map((absolute) => absolute.slice(1) || '.'),
  path.map((absolute) => `${scratch}${absolute}`),
  fc.constantFrom('/', '..', '../../../outside', '/proc/self/root', '/proc/1/cwd'),
);
/** Where something is made, and what: a link to a target, or a directory. */
const thing = fc.record({
  at: fc.oneof(fc.array(name, { minLength: 1, maxLength: 4 }), special),
  target: fc.option(target, { nil: undefined }),
});

function attempted(make: () => void): void {
  try {
    make();
  } catch (error) {
    // Something else is there already, or a link on the way leads nowhere.
    if (!(error instanceof Error && 'code' in error)) throw error;
  }
}

/** A tree of links below a new root. Nothing is made through a link: it could leave the root. */
function makeTree(
  root: string,
  things: readonly { at: readonly string[]; target: string | undefined }[],
) {
  mkdirSync(root);
  for (const { at, target: to } of things) {
    const here = join(root, ...at);
    if (isReachedThroughLink(root, dirname(here))) continue;
    attempted(() => mkdirSync(dirname(here), { recursive: true }));
    attempted(() => (to === undefined ? mkdirSync(here) : symlinkSync(to, here)));
  }
}

function isLink(here: string): boolean {
  return lstatSync(here.replace(/\/+$/, ''), { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}

function isReachedThroughLink(root: string, here: string): boolean {
  if (here.length <= root.length + 1) return false;
  return isReachedThroughLink(root, dirname(here)) || isLink(here);
}

let fixture = 0;

test('whatever links there are, a path ends below the root, and no link is left to the kernel', () => {
  let resolved = 0;
  fc.assert(
    fc.property(fc.array(thing, { maxLength: 12 }), path, (things, asked) => {
      fixture += 1;
      const root = join(scratch, `root${fixture}`);
      makeTree(root, things);
      for (const last of ['follow', 'keep'] as const) {
        let found: string;
        try {
          found = pathInRoot(root, asked, last).toString();
        } catch (error) {
          expect(error).toMatchObject({ code: 'ELOOP' });
          continue;
        }
        resolved += 1;
        expect(found).toMatch(new RegExp(`^${root}/`));
        expect(found).not.toMatch(/\/\.\.(\/|$)/);
        expect(
          isReachedThroughLink(
            root,
            last === 'keep' && !found.endsWith('/') ? dirname(found) : found,
          ),
        ).toBe(false);
      }
      rmSync(root, { recursive: true });
    }),
    { numRuns: RUNS },
  );
  expect(resolved).toBeGreaterThan(RUNS);
});
