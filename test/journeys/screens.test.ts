import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { filesOfBundle, packBundle } from '../../src/node/recording/bundle.ts';
import { checked } from '../../tools/screens/render-screens.ts';
import { SCENES } from '../../tools/screens/scenes.ts';
import { EXECUTABLE, reportOf, runProgram } from '../rig/run-kubediag.ts';

const PAGES = join(import.meta.dirname, '../../docs/screens');

/** What the built executable shows of the nodes of docs/screens, each as a bundle that it replays. */
describe('the screen of a node', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubediag-screens-'));
  const bundleAt = (name: string) => join(folder, `${name}.tgz`);

  beforeAll(async () => {
    for (const scene of SCENES) {
      const { bundle } = await checked(scene);
      writeFileSync(bundleAt(scene.name), await packBundle(await filesOfBundle(bundle)));
    }
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const piped = async (name: string, ...args: readonly string[]) =>
    runProgram([EXECUTABLE, 'replay', bundleAt(name), ...args]);

  /** With a terminal of so many columns. */
  async function onTerminal(
    name: string,
    columns: number,
    environment: NodeJS.ProcessEnv = {},
  ): Promise<string> {
    const command = `stty cols ${columns} rows 50; exec ${EXECUTABLE} -q replay ${bundleAt(name)}`;
    const args = ['script', '--quiet', '--return', '--command', command, '/dev/null'];
    const { stdout } = await runProgram(args, {
      environment: { TERM: 'xterm-256color', ...environment },
    });
    return stdout.replaceAll('\r\n', '\n');
  }

  // Who replays a bundle is not who recorded it: the page of somebody without rights is a check's own.
  const replayed = SCENES.filter(({ isRoot }) => isRoot !== false);

  describe.each(replayed.map(({ name }) => name))('%s', (name) => {
    test.each([80, 120])('is its page, on a terminal of %i columns', async (columns) => {
      const page = (kind: string) =>
        readFileSync(join(PAGES, `${name}-${columns}.${kind}`), 'utf8');
      expect(await onTerminal(name, columns)).toBe(page('ansi'));
      expect(await onTerminal(name, columns, { NO_COLOR: '1' })).toBe(page('txt'));
      expect(stripVTControlCharacters(page('ansi'))).toBe(page('txt'));
    });

    test('begins with the answer, also in a pipe, and says what was not looked for', async () => {
      const { stdout } = await piped(name);
      const report = reportOf(await piped(name, '-o', 'json'));
      const findings = report.faults.flatMap((fault) => fault.findings);
      const [first = ''] = stdout.split('\n');
      if (findings.length > 0) expect(first).toContain(`${findings.length} finding`);
      for (const fault of report.faults.filter(({ verdict }) => verdict === 'found')) {
        expect(first).toContain(`${fault.name} ${fault.findings.length}`);
      }
      expect(first).toMatch(/^(\d+ faults?, |no fault found$|unknown: )/);
      expect(stdout).toContain('; other faults were not checked\n');
    });

    test('breaks no id and no path', async () => {
      const report = reportOf(await piped(name, '-o', 'json'));
      const proofs = report.faults.flatMap(({ findings }) => findings[0]?.proof.slice(0, 4) ?? []);
      const tokens = proofs.flatMap(({ text = '', origin }) => [
        ...(text.length < 500 ? text.split(/\s+/) : []),
        ...origin.split(/\s+/),
      ]);
      const shown = (await onTerminal(name, 80, { NO_COLOR: '1' })).split(/\s+/);
      expect(tokens.filter((token) => token !== '' && !shown.includes(token))).toEqual([]);
    });
  });

  test('of 43 findings no fault is left out, and -v shows all', async () => {
    const { stdout } = await piped('many-findings');
    expect(stdout.split('\n')[0]).toBe(
      '2 faults, 43 findings: orphaned-volume-metadata 1, leftover-volume-directory 42',
    );
    expect(stdout).toMatch(/^ACTIVE {2}orphaned-volume-metadata/m);
    expect(stdout).toMatch(/^LATENT {2}leftover-volume-directory/m);
    expect(stdout).toContain('41 more findings like it:');
    expect(stdout.split('\n').length).toBeLessThan(70);
    const all = await piped('many-findings', '-v');
    expect(all.stdout.match(/^(ACTIVE|LATENT) {2}/gm)).toHaveLength(43);
    const report = reportOf(await piped('many-findings', '-o', 'json'));
    expect(report.faults.flatMap(({ findings }) => findings)).toHaveLength(43);
  });
});
