import { EXECUTABLE } from '../../test/rig/run-kubediag.ts';
import { leastMs } from './interleave.ts';
import { barred, type Row, shown } from './row.ts';

const ROUNDS = 25;
const START_MS = 60;
const TIMES_NODE = 2;

/** How long a person waits for the executable itself: a new process, its file already in memory. */
export async function startRows(): Promise<readonly Row[]> {
  const { kubediag, node } = leastMs(
    { kubediag: [EXECUTABLE, 'version'], node: [process.execPath, '-e', '0'] },
    ROUNDS,
  );
  return [
    barred('kubediag version', kubediag, 'ms', { under: START_MS }),
    shown('node -e 0', node, 'ms'),
    barred('kubediag version / node', kubediag / node, 'times', { under: TIMES_NODE }),
  ];
}
