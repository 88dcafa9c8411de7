import { messageOf } from '../std/message-of.ts';
import { openNode } from './open-node.ts';

/** As the command line tells of what was refused. */
const NOT_DONE = 3;

/** What the lab does on its practice node and is done with: the words come from outside. */
export async function runInside([command = '', ...words]: readonly string[]): Promise<void> {
  const node = openNode();
  try {
    switch (command) {
      case 'furnish':
        (await import('./baseline.ts')).writeBaseline();
        await (await import('./furnish.ts')).furnish(node);
        break;
      case 'break':
        await (await import('./make-break.ts')).makeBreak(node, words);
        break;
      case 'heal':
        await (await import('./heal.ts')).heal(node);
        break;
      case 'snapshot': {
        const { snapshotOf } = await import('./exam/snapshot.ts');
        process.stdout.write(JSON.stringify(await snapshotOf(node)));
        break;
      }
      default:
        throw new Error(`nothing is called "${command}" on a practice node`);
    }
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n`);
    process.exitCode = NOT_DONE;
  } finally {
    node.runtime.close();
  }
}
