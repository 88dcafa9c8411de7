import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { tracesOf } from '../rig/lab-traces.ts';
import { EXECUTABLE, runProgram, startProgram } from '../rig/run-kubediag.ts';

/** Under two minutes on a machine of its own; this one may be busy with other tests. */
const TOUR_MS = 8 * 60_000;

test(
  'the tour of one fault shows that one alone, and says how to go on',
  async () => {
    const args = [EXECUTABLE, 'lab', 'tour', 'stale-subpath-mount', '--runtime', 'stand-in'];
    const { code, stdout } = await runProgram(args, { limitMs: TOUR_MS });
    expect(code).toBe(0);
    expect(stdout).toContain('Within a minute one fault is');
    expect(stdout.match(/^PRACTICE NODE {2}.* \d of \d$/gm)).toHaveLength(1);
    expect(stdout).toContain('the fault was made, found and repaired, and the last check is clear');
    expect(stdout).toMatch(/^Next steps\n {2}see all faults of the tour +\S+ lab tour$/m);
    const other = await runProgram([EXECUTABLE, 'lab', 'tour', 'orphaned-volume-metadata']);
    expect(other.code).toBe(64);
    expect(other.stderr).toContain(
      'the tour does not show "orphaned-volume-metadata"; it shows stale-',
    );
  },
  TOUR_MS,
);

test(
  'the tour makes, finds and repairs four faults, serves the practice node, and leaves nothing',
  async () => {
    const args = [EXECUTABLE, 'lab', 'tour', '--serve', '--listen', '127.0.0.1:0'];
    const tour = startProgram([...args, '--runtime', 'stand-in'], { limitMs: TOUR_MS });
    tour.child.stdin?.end();
    await tour.hasSaid('Press Ctrl-C');
    const said = tour.said();
    expect(said).toContain(
      '4 of 4 faults were made, found and repaired, and the last check is clear',
    );
    for (const command of ['check', 'explain', 'recover']) {
      expect(said.match(new RegExp(`^PRACTICE NODE # kubediag ${command} `, 'gm'))).not.toBeNull();
    }
    expect(said.match(/^PRACTICE NODE {2}.* \d of 4$/gm)).toHaveLength(4);
    expect(said).not.toContain('press Enter');

    const [, name = '', url = ''] =
      /^The agent on PRACTICE NODE (\S+) listens on (\S+)$/m.exec(said) ?? [];
    const [, file = ''] = /^ {2}token +in (\S+),/m.exec(said) ?? [];
    const list = `${url}/apis/diagnosis.kubediag.org/v1/diagnoses`;
    expect((await fetch(list)).status).toBe(401);
    const headers = { authorization: `Bearer ${readFileSync(file, 'utf8').trim()}` };
    const answer = await fetch(list, { headers });
    expect(await answer.json()).toMatchObject({ kind: 'DiagnosisList', items: [] });

    tour.child.kill('SIGINT');
    expect(await tour.end).toMatchObject({ code: 0 });
    await expect(fetch(list)).rejects.toThrow('fetch failed');
    expect(tracesOf(name)).toEqual([]);
  },
  TOUR_MS,
);
