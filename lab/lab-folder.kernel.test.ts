import { spawn } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { lab } from '../test/rig/lab-traces.ts';
import { EXECUTABLE, oneLine, runProgram } from '../test/rig/run-kubediag.ts';

const NAME = `f${process.pid}`;
const FOLDER = `/run/kubediag-lab/${NAME}`;
const NOBODY = 65_534;

describe('a directory that is not of root alone', () => {
  let innocent: ReturnType<typeof spawn>;

  // The record names a process that belongs to no lab.
  beforeEach(() => {
    innocent = spawn('sleep', ['600']);
    mkdirSync(FOLDER, { recursive: true, mode: 0o700 });
    const files = [`/proc/${innocent.pid}/stat`, '/proc/sys/kernel/random/boot_id'];
    const record = files.map((file) => readFileSync(file, 'utf8')).join('');
    writeFileSync(`${FOLDER}/holder`, record);
  });

  afterEach(() => {
    innocent.kill();
    rmSync(FOLDER, { recursive: true });
  });

  test.each([
    ['belongs to somebody else', () => chownSync(FOLDER, NOBODY, NOBODY)],
    ['can be written by others', () => chmodSync(FOLDER, 0o777)],
  ])('because it %s is not believed', async (_, change) => {
    change();
    for (const text of [['down'], ['up', '--runtime', 'stand-in'], ['run', '--', 'true']]) {
      const [command = '', ...rest] = text;
      const ended = await lab(command, NAME, ...rest);
      expect(ended.code).toBe(3);
      expect(oneLine(ended.stderr)).toContain(
        `${FOLDER}: not a directory that only root can write`,
      );
    }
    const { stdout } = await runProgram([EXECUTABLE, 'lab', 'list']);
    expect(stdout).not.toContain(NAME);
    expect(innocent.exitCode ?? innocent.signalCode).toBeNull();
  });
});
