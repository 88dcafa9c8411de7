import { closeSync, openSync, readFileSync } from 'node:fs';
import { systemProgram } from '../src/lib/process/run.ts';
import { startTimeOf } from '../src/lib/std/start-time-of.ts';
import type { ProcessMark } from './process-mark.ts';
import { Refusal } from './refusal.ts';
import { unlessGone } from './unless-gone.ts';

const NAMESPACES = { mount: 'mnt', pid: 'pid', net: 'net', uts: 'uts' };

/**
 * How to run a command on a practice node: `program` with `into` before the command; `close` after
 * it has ended.
 *
 * Enters the namespaces of a first process through its directory in /proc, which we hold open: it
 * stays that of this very process, while the PID may be reused after its end.
 */
export function openNodeEntry({ pid, startTime }: ProcessMark) {
  const folder = unlessGone(() => openSync(`/proc/${pid}`, 'r'));
  if (folder === undefined) throw gone();
  const held = `/proc/${process.pid}/fd/${folder}`;
  const close = () => closeSync(folder);
  if (unlessGone(() => startTimeOf(readFileSync(`${held}/stat`, 'utf8'))) !== startTime) {
    close();
    throw gone();
  }
  const files = Object.entries(NAMESPACES).map(([name, file]) => `--${name}=${held}/ns/${file}`);
  return { program: systemProgram('nsenter') ?? 'nsenter', into: [...files, '--'], close };
}

function gone(): Refusal {
  return new Refusal(
    'cannot enter the practice node',
    'it has ended meanwhile',
    'create it again: kubediag lab up',
  );
}
