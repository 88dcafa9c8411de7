import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { QuickAnswer, QuickQuestion } from '../../src/node/model/quick-reader.ts';
import { LiveQuickReader } from '../../src/node/reader/live-quick-reader.ts';

/**
 * Asks a quick reader the same question several times, in a process of its own that enters private
 * namespaces: `quick-answers.ts '{"names": [], "files": ["/etc/hosts"], "logs": []}' 2`. Prints what
 * came of it as JSON. A shell that hangs is not waited for.
 */
export interface QuickTrial {
  readonly answers: readonly (QuickAnswer | null)[];
  /** The pids of the shells that it has started and that are left. */
  readonly left: readonly number[];
}

const [question = '', times = '1'] = process.argv.slice(2);
const quick = new LiveQuickReader('/');
const answers: (QuickAnswer | null)[] = [];
for (let time = 0; time < Number(times); time += 1) {
  answers.push((await quick.ask(JSON.parse(question) as QuickQuestion)) ?? null);
}
await sleep(200);
const trial: QuickTrial = { answers, left: readdirSync('/proc').filter(isOurs).map(Number) };
process.stdout.write(`${JSON.stringify(trial)}\n`);
quick.close();

function isOurs(name: string): boolean {
  if (!/^\d+$/.test(name)) return false;
  const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
  // 812 (sh) S 1 812 812 0 -1 4194560
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] === String(process.pid);
}
