import { text } from 'node:stream/consumers';
import { folderOf, names, takeDown } from '../../tools/cluster/known-clusters.ts';
import { leftOf } from '../rig/cluster-leftovers.ts';

/**
 * Waits until the test run that started it is over, however it ended: then its standard input
 * closes. Takes down what the run left, and fails when anything is still there.
 */
const [clusters = ''] = process.argv.slice(2);
if (!clusters) throw new Error('of which run?');

await text(process.stdin);
for (const name of await names()) {
  if (name.startsWith(`${clusters}-`)) await takeDown(name);
}
const left = await leftOf(folderOf(`${clusters}-`));
for (const { kind, what } of left) console.error(`${kind} ${what}`);
process.exitCode = left.length > 0 ? 1 : 0;
