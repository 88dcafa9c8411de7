import { sendSignal } from '../../lib/process/send-signal.ts';
import { strayReaders } from '../evidence/mounts/left-readers.ts';
import { attempt, type Snapshot } from '../model/evidence.ts';

/**
 * Kills readers of ours that have lost their parent: they keep mounts busy, and nobody waits for their
 * answer. A failure changes nothing: whatever uses a mount is found again before anything is done to it.
 */
export async function endStrays(snapshot: Snapshot): Promise<void> {
  const strays = await attempt(strayReaders(snapshot));
  for (const stray of strays.known ? strays.value : []) sendSignal(stray, 'SIGKILL');
}
