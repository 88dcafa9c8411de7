import { defineEvidence } from '../model/evidence.ts';
import type { ProcessEntry } from '../node/node-reader.ts';

/** Asked once for all that want to know of one moment: a full node has thousands. */
export const processes = defineEvidence<readonly ProcessEntry[]>({
  id: 'processes',
  title: 'Every process of the node',
  collect: (look) => look.node.ask('processes', { all: 'processes' }),
});
