import { StandingCheck } from '../../src/hosts/executor/standing-check/standing-check.ts';
import { CheckMemory } from '../../src/node/checkup/check-memory.ts';
import { faults } from '../../src/node/faults/index.ts';
import { LiveNode } from '../../src/node/reader/live-node.ts';
import type { NodeCheck } from '../../src/pipeline/channel/node-check.ts';
import { readerCommand } from '../reader-command.ts';

/**
 * Checks the node as an executor does, so often and without a pause: `standing-checks.ts 10`. Prints
 * one line of JSON for each check.
 */
export interface PrintedCheck {
  readonly check: NodeCheck;
  /** Readers that hang. */
  readonly abandoned: number;
}

const node = new LiveNode(readerCommand, { hostRoot: '/' });
const print = (check: NodeCheck) => {
  const printed: PrintedCheck = { check, abandoned: node.abandoned.length };
  process.stdout.write(`${JSON.stringify(printed)}\n`);
};
const { signal: stop } = new AbortController();
const openNode = () => node;
const standing = new StandingCheck({
  ...{ openNode, tables: node, faults, settings: {}, memory: new CheckMemory() },
  ...{ onCheck: print, stop },
});
for (let count = Number(process.argv[2]); count > 0; count -= 1) await standing.checkOnce(node);
